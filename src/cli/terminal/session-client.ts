import type { SessionOperations } from "#app/session.ts";
import type { Client } from "#client/client.ts";
import type { OperationInput, OperationOutput } from "#contract/operations.ts";
import type { LogChunk } from "#log/log-source.ts";

type Asked = "session.get" | "session.input" | "session.interrupt" | "session.resize";

/** The sessions of a server, or of this machine, as far as terminals and pipelines use them. */
export interface SessionClient extends Pick<Client, "attach"> {
  /** The address of the server; undefined = this machine. */
  readonly address: string | undefined;
  call<N extends Asked & keyof SessionOperations>(
    name: N,
    input: OperationInput<N>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<OperationOutput<N>>;
  /** Only reads: no viewer is counted. Absent = `attach`. */
  readonly follow?: Client["attach"];
  /** History from the log instead of a painted screen. */
  readonly history?: History;
}

/** What was printed before, where it can be read at once. */
export interface History {
  /** The first byte that is kept, and the one behind the last. */
  range(sessionId: string): Promise<{ readonly first: number; readonly tail: number }>;
  read(sessionId: string, from: number, to: number): AsyncIterable<LogChunk>;
  /** Asks a full-screen program to repaint, also for a client that only watches. */
  repaint(sessionId: string): Promise<unknown>;
}
