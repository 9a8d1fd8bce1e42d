import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { ToolName, ToolOutput } from "#contract/tools/tools.ts";
import { binPath } from "./packaged.ts";
import type { Reins } from "./reins.ts";

/** The handshake of today's clients, or what the newest ones say with each request. */
export type Era = "legacy" | "modern";

export interface McpClient extends AsyncDisposable {
  readonly client: Client;
  /** What the tool answers; a refusal is thrown. */
  call<N extends ToolName>(name: N, input: Record<string, unknown>): Promise<ToolOutput<N>>;
  /** The text of a refusal; anything else is thrown. */
  refused(name: ToolName, input: Record<string, unknown>): Promise<string>;
}

export interface McpSetting {
  readonly era?: Era;
  readonly name?: string;
}

export interface StdioSetting extends McpSetting {
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** The program, by another path than its own. */
  readonly bin?: string;
}

export interface StdioMcp extends McpClient {
  readonly pid: number;
}

/** The official client with a real `reins serve mcp` of its own. */
export async function openStdioMcp(reins: Reins, setting: StdioSetting = {}): Promise<StdioMcp> {
  const { args = [], cwd = reins.path, bin = binPath } = setting;
  const env = Object.entries(reins.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, "serve", "mcp", ...args],
    env: Object.fromEntries(env),
    cwd,
    stderr: "ignore",
  });
  const opened = await connect(transport, setting);
  return { ...opened, pid: transport.pid ?? 0 };
}

export interface HttpSetting extends McpSetting {
  readonly url: string;
  readonly token: string | undefined;
}

/** The official client at the gateway's door. */
export function openHttpMcp({ url, token, ...setting }: HttpSetting): Promise<McpClient> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", url), {
    requestInit: { headers },
  });
  return connect(transport, setting);
}

async function connect(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  { era = "legacy", name = "test-client" }: McpSetting,
): Promise<McpClient> {
  const mode = era === "legacy" ? "legacy" : { pin: "2026-07-28" };
  const client = new Client({ name, version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  // So that it checks every answer against the schema of its tool.
  await client.listTools();
  const call = (tool: string, input: Record<string, unknown>) =>
    client.callTool({ name: tool, arguments: input });
  return {
    client,
    call: async (tool, input) => {
      const result = await call(tool, input);
      if (result.isError === true) throw new Error(textOf(result));
      // Checked by the client against the schema that this type is made from.
      return result.structuredContent as ToolOutput<typeof tool>;
    },
    refused: async (tool, input) => {
      const result = await call(tool, input);
      if (result.isError !== true) throw new Error(`not refused: ${textOf(result)}`);
      return textOf(result);
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

export function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}
