import { CLIENT_INFO_META_KEY, McpServer, type ServerContext } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { limits } from "#contract/limits.ts";
import { parseRequest } from "#contract/parse.ts";
import type { ToolHints } from "#contract/tools/tool-spec.ts";
import { type ToolName, type Tools, tools } from "#contract/tools/tools.ts";
import { openProgress } from "./progress.ts";
import { describeFailure, describeResult, type ToolResult } from "./tool-result.ts";
import { schemasOf } from "./tool-schemas.ts";
import { titleOf } from "./tool-title.ts";

interface McpServerDeps {
  /** The handlers for a client of this name. */
  readonly tools: (client: string) => Tools;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends every wait, as cancelling a call does. A fault as its reason is what the calls answer. */
  readonly signal?: AbortSignal;
}

const INSTRUCTIONS =
  "Commands, background processes and terminals that outlive this connection. Run commands with execute; what takes long goes on in the background under an id. Use the terminal tools for programs that need a screen.";
const UNKNOWN_CLIENT = "unknown";
/** What newer clients say of themselves with each request. */
const Envelope = z.object({ [CLIENT_INFO_META_KEY]: z.object({ name: z.string() }) });

/** A server with every tool of the table. It serves one connection or one request, as its transport has it. */
export function createMcpServer(deps: McpServerDeps): McpServer {
  const server = new McpServer(
    { name: "reins", title: "Reins", version: deps.version },
    // The list never changes while it is served.
    { capabilities: { tools: { listChanged: false } }, instructions: INSTRUCTIONS },
  );
  // Every key of the table is the name of a tool.
  for (const name of Object.keys(tools) as ToolName[]) {
    const { description, hints } = tools[name];
    const title = titleOf(name);
    server.registerTool(
      name,
      { title, description, ...schemasOf(name), annotations: { title, ...annotationsOf(hints) } },
      (input, context) =>
        callTool(deps, name, { input, context, client: clientOf(server, context) }),
    );
  }
  return server;
}

interface Call {
  readonly input: unknown;
  readonly context: ServerContext;
  readonly client: string;
}

async function callTool(
  deps: McpServerDeps,
  name: ToolName,
  { input, context, client }: Call,
): Promise<ToolResult> {
  const { signal: cancelled } = context.mcpReq;
  const signal = deps.signal === undefined ? cancelled : AbortSignal.any([cancelled, deps.signal]);
  try {
    // The input is parsed with the schema that the handler of this name is typed by.
    const handler = deps.tools(client)[name] as (
      input: unknown,
      options: { readonly signal: AbortSignal },
    ) => Promise<unknown>;
    const parsed = parseRequest(tools[name].input, input);
    using _progress = openProgress(deps, name, context);
    return describeResult(name, await handler(parsed, { signal }));
  } catch (error) {
    // Who cancelled hears nothing more; everybody else hears why it was ended.
    const why: unknown = signal.aborted ? signal.reason : error;
    return describeFailure(deps, name, { error: why, isExpected: signal.aborted });
  }
}

/** As it called itself: with each request, or when it opened the connection. */
function clientOf({ server }: McpServer, { mcpReq }: ServerContext): string {
  const said = Envelope.safeParse(mcpReq.envelope).data?.[CLIENT_INFO_META_KEY].name;
  const name = said ?? server.getClientVersion()?.name ?? "";
  return name === "" ? UNKNOWN_CLIENT : name.slice(0, limits.name_chars);
}

function annotationsOf({ read_only, destructive, idempotent }: ToolHints) {
  return {
    readOnlyHint: read_only,
    destructiveHint: destructive,
    idempotentHint: idempotent,
    // What runs or types something may reach anything; the rest looks at our own sessions or ends them.
    openWorldHint: !read_only && !idempotent,
  };
}
