import * as z from "zod";
import { failed, interrupted } from "#agent/define-tool.ts";
import { describeResult } from "#agent/mcp/describe-result.ts";
import { Lifecycle } from "#agent/mcp/lifecycle.ts";
import type { McpConfig, McpDeps } from "#agent/mcp/server.ts";
import type { ToolCall, ToolContext, ToolOutcome, Toolset } from "#agent/toolset.ts";
import { messageOf } from "#base/errno.ts";
import type { PromptCard } from "#contract/agent/views.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";

/** For all that has to happen before a server has said which prompts it has. */
const PROMPTS_MS = 60_000;

/** The tools and prompts of an MCP server. Starts nothing yet. */
export function createMcpToolset(config: McpConfig, deps: McpDeps): Toolset {
  const { name } = config;
  const server = new Lifecycle(config, deps);
  return {
    name,
    kind: "mcp",
    restartable: true,
    get state() {
      return server.state;
    },
    get problem() {
      return server.problem;
    },
    get instruction() {
      return server.instruction;
    },
    start: () => server.start(),
    restart: () => server.restart(),
    tools: () => server.tools.map(({ tool }) => tool),
    call: (call, context) => callTool(server, name, { call, context }),
    onChanged: (listener) => server.onChanged(listener),
    prompts: () => listPrompts(server, name, deps),
    runPrompt: (prompt, args) => runPrompt(server, { toolset: name, prompt, args }, deps),
    skills: () => [],
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

interface Asked {
  readonly call: ToolCall;
  readonly context: ToolContext;
}

async function callTool(
  server: Lifecycle,
  toolset: string,
  { call, context }: Asked,
): Promise<ToolOutcome> {
  try {
    const connection = await server.use(context.signal);
    if (connection === undefined) return failed(`${toolset} does not run: ${whyNot(server)}`);
    const found = server.tools.find(({ tool }) => tool.name === call.tool);
    if (found === undefined) return failed(`${toolset} has no tool ${call.tool} any more`);
    const asked = { tool: found.server_name, input: call.input };
    const result = await connection.call(asked, context);
    server.succeeded();
    return describeResult(result);
  } catch (error) {
    return context.signal.aborted ? interrupted() : failed(messageOf(error));
  }
}

const ListedPrompt = z.object({
  name: z.string().min(1).max(limits.name_chars),
  description: z.string().default(""),
  arguments: z
    .array(
      z.object({
        name: z.string(),
        description: z.string().default(""),
        required: z.boolean().default(false),
      }),
    )
    .default([]),
});

/** A server that cannot say has none: the prompts of the others are listed all the same. */
async function listPrompts(
  server: Lifecycle,
  toolset: string,
  { clock, log }: McpDeps,
): Promise<readonly PromptCard[]> {
  const late = new AbortController();
  using _timer = clock.timer(PROMPTS_MS, () => late.abort());
  try {
    const connection = await server.use(late.signal);
    const listed = (await connection?.listPrompts(late.signal)) ?? [];
    return listed.flatMap((entry) => {
      const { data } = ListedPrompt.safeParse(entry);
      return data === undefined ? [] : { ...data, toolset };
    });
  } catch (error) {
    log.warn("prompts were not listed", { toolset, error: messageOf(error) });
    return [];
  }
}

interface PromptRequest {
  readonly toolset: string;
  readonly prompt: string;
  readonly args: Readonly<Record<string, string>>;
}

async function runPrompt(
  server: Lifecycle,
  { toolset, prompt, args }: PromptRequest,
  deps: McpDeps,
): Promise<string | undefined> {
  const card = (await listPrompts(server, toolset, deps)).find(({ name }) => name === prompt);
  if (card === undefined) return undefined;
  const missing = card.arguments.filter(({ name, required }) => required && !(name in args));
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(", ");
    throw new Fault("invalid_request", `the prompt ${prompt} needs ${names}`);
  }
  try {
    const connection = await server.use(new AbortController().signal);
    return await connection?.getPrompt(prompt, args);
  } catch (error) {
    const message = `the prompt ${prompt} cannot be had: ${messageOf(error)}`;
    throw new Fault("invalid_request", message, { cause: error });
  }
}

function whyNot({ problem }: Lifecycle): string {
  return problem ?? "it was ended";
}
