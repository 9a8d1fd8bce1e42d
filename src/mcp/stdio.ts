import { addAbortListener } from "node:events";
import { finished, type Readable, type Writable } from "node:stream";
import { finished as finish } from "node:stream/promises";
import type { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Logger } from "#base/logger.ts";
import { limits } from "#contract/limits.ts";

export interface StdioStreams {
  readonly stdin: Readable;
  /** Takes the protocol, and nothing else is ever written to it. */
  readonly stdout: Writable;
}

interface StdioServing {
  readonly createServer: () => McpServer;
  readonly log: Logger;
  /** Ends it, as the end of stdin does. */
  readonly signal: AbortSignal;
}

/** Room for the largest input, written with escapes. */
const MESSAGE_BYTES = 8 * limits.body_bytes;

/** Serves one client on these streams until it has closed its end, or the signal says so. */
export async function runMcpStdio(
  { createServer, log, signal }: StdioServing,
  { stdin, stdout }: StdioStreams,
): Promise<void> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  // Also of one that came before.
  using _abort = addAbortListener(signal, () => end());
  finished(stdin, { writable: false }, () => end());
  finished(stdout, () => end());
  const transport = new StdioServerTransport(stdin, stdout, { maxBufferSize: MESSAGE_BYTES });
  const handle = serveStdio(createServer, {
    transport,
    onerror: (error) => log.warn("a message was not understood", { error: error.message }),
  });
  await ended;
  await handle.close();
  if (!stdout.destroyed) await finish(stdout.end());
}
