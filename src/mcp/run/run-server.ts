import { McpServer, type ServerContext } from "@modelcontextprotocol/server";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { parseRequest } from "#contract/parse.ts";
import { openProgress } from "#mcp/progress.ts";
import { describeFailure, type ToolResult } from "#mcp/tool-result.ts";
import { describeOnly } from "#mcp/tool-schemas.ts";
import { titleOf } from "#mcp/tool-title.ts";
import type { Run } from "#tools/run-control.ts";
import { createRunHandlers } from "./call-run.ts";
import { type RunToolName, runTools } from "./run-tools.ts";

interface RunServerDeps {
  readonly run: Run;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends every wait, as cancelling a call does. */
  readonly signal: AbortSignal;
}

/** A server with one run as its tools. Whoever else speaks to the run goes on doing so. */
export function createRunServer(deps: RunServerDeps): McpServer {
  const { session_id, kind } = deps.run.session;
  const server = new McpServer(
    { name: "reins", title: "Reins", version: deps.version },
    {
      capabilities: { tools: { listChanged: false } },
      instructions: `These tools steer one run that goes on without you: ${session_id}, of the kind ${kind}. Speak to it with send, see what it does with events_since.`,
    },
  );
  // Every key of the table is the name of a tool.
  for (const name of Object.keys(runTools) as RunToolName[]) {
    const { description, hints, input, output, agentOnly } = runTools[name];
    if (agentOnly && kind !== "agent") continue;
    const title = titleOf(name);
    server.registerTool(
      name,
      {
        ...{ title, description },
        inputSchema: describeOnly(input),
        outputSchema: describeOnly(output),
        annotations: {
          title,
          readOnlyHint: hints.read_only,
          destructiveHint: hints.destructive,
          idempotentHint: hints.idempotent,
          openWorldHint: hints.open_world,
        },
      },
      (given, context) => callTool(deps, name, { given, context }),
    );
  }
  return server;
}

interface Call {
  readonly given: unknown;
  readonly context: ServerContext;
}

async function callTool(
  deps: RunServerDeps,
  name: RunToolName,
  { given, context }: Call,
): Promise<ToolResult> {
  const signal = AbortSignal.any([context.mcpReq.signal, deps.signal]);
  try {
    using _progress = openProgress(deps, name, context);
    // The input is parsed with the schema that the handler of this name is typed by.
    const handler = createRunHandlers(deps.run)[name] as (
      input: unknown,
      asking: { readonly signal: AbortSignal },
    ) => Promise<object>;
    const answer = await handler(parseRequest(runTools[name].input, given), { signal });
    const text = JSON.stringify(answer);
    return { content: [{ type: "text", text }], structuredContent: { ...answer } };
  } catch (error) {
    const isExpected = signal.aborted;
    const why: unknown = isExpected ? signal.reason : error;
    return describeFailure(deps, name, { error: why, isExpected });
  }
}
