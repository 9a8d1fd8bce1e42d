import { finished, type Readable, type Writable } from "node:stream";
import { finished as finish } from "node:stream/promises";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { limits } from "#contract/limits.ts";
import { createMcpServer, type McpServerDeps } from "./server.ts";

export interface StdioStreams {
  readonly stdin: Readable;
  /** Takes the protocol, and nothing else is ever written to it. */
  readonly stdout: Writable;
}

/** Room for the largest input, written with escapes. */
const MESSAGE_BYTES = 8 * limits.body_bytes;

/** Serves one client on these streams until it has closed its end, or the signal says so. */
export async function runMcpStdio(
  deps: McpServerDeps & { readonly signal: AbortSignal },
  { stdin, stdout }: StdioStreams,
): Promise<void> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  deps.signal.addEventListener("abort", () => end(), { once: true });
  finished(stdin, { writable: false }, () => end());
  finished(stdout, () => end());
  const transport = new StdioServerTransport(stdin, stdout, { maxBufferSize: MESSAGE_BYTES });
  const handle = serveStdio(() => createMcpServer(deps), {
    transport,
    onerror: (error) => deps.log.warn("a message was not understood", { error: error.message }),
  });
  await ended;
  await handle.close();
  if (!stdout.destroyed) await finish(stdout.end());
}
