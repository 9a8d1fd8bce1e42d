import type { OutputRange } from "#contract/operations/reading.ts";
import type {
  CallName,
  DocumentName,
  OperationCalls,
  OperationInput,
  OperationOutput,
  StreamItem,
  StreamName,
} from "#contract/operations.ts";
import { type DocumentAnswer, readDocument, readJson, readOutput } from "./answers.ts";
import { type Attachment, type AttachOptions, openAttachment } from "./attach/attachment.ts";
import { callServer } from "./call.ts";
import { followStream, type Resumption } from "./stream.ts";
import { openTerminals, type Terminals, type TerminalsOptions } from "./terminals.ts";
import { type ClientOptions, createTransport, type Transport } from "./transport.ts";

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface StreamOptions extends CallOptions {
  /** The connection is gone and is tried again; what comes next says that it is back. */
  readonly onCut?: (() => void) | undefined;
  /** No pause between two attempts is longer. Absent = 5 s. */
  readonly longestPauseMs?: number | undefined;
}

/**
 * The way to sessions, typed by the table: over HTTP, or in this process. What is refused, and what cannot be reached (`host_unavailable`), is a `Fault`; an
 * aborted call rejects with the signal's reason. What is only read, or carries a key, is asked again when the server
 * was away for a moment; nothing else is.
 */
export interface Client extends OperationCalls {
  /** The address of the server; undefined in process. */
  readonly address: string | undefined;
  /** What a session has printed, from `since`. */
  output(input: OperationInput<"session.output">, options?: CallOptions): Promise<OutputRange>;
  /**
   * Events until the reader stops. `session.events` goes on where it was cut, `sessions.watch` begins anew with
   * `ready`, which says that it is time to list; a cut `shell.run` or `agent.run` is a Fault, and what it began still
   * runs.
   */
  stream<N extends StreamName>(
    name: N,
    input: OperationInput<N>,
    options?: StreamOptions,
  ): AsyncIterable<StreamItem<OperationOutput<N>>>;
  document<N extends DocumentName>(
    name: N,
    input: OperationInput<N>,
    options?: CallOptions,
  ): Promise<DocumentAnswer>;
  /** Watches and steers a session, through cuts. */
  attach(sessionId: string, options?: AttachOptions): Attachment;
}

/** A client of a server. */
export interface ServerClient extends Client {
  readonly address: string;
  /** Many terminals on one socket. */
  terminals(options?: TerminalsOptions): Terminals;
}

const resumptions: Readonly<Record<StreamName, Resumption>> = {
  "session.events": "exact",
  "sessions.watch": "again",
  "shell.run": "none",
  "agent.run": "none",
};

export function createClient(options: ClientOptions): ServerClient {
  const transport = createTransport(options);
  const client: ServerClient = {
    address: options.url,
    call: <N extends CallName>(name: N, input: OperationInput<N>, asking: CallOptions = {}) => {
      // The server answers by the row's schema; checking it again would need all of zod.
      const read = async (response: Response) =>
        (await readJson(response, name)) as OperationOutput<N>;
      return callServer(transport, { name, input, read }, asking);
    },
    output: (input, asking) =>
      callServer(transport, { name: "session.output", input, read: readOutput }, asking),
    stream: <N extends StreamName>(name: N, input: OperationInput<N>, asking: StreamOptions = {}) =>
      // As above.
      followTyped(client, transport, {
        ...{ name, input },
        // By name: an AbortController is given as well, and has its signal further up.
        ...{ signal: asking.signal, onCut: asking.onCut, longestPauseMs: asking.longestPauseMs },
      }) as AsyncIterable<StreamItem<OperationOutput<N>>>,
    document: (name, input, asking) =>
      callServer(transport, { name, input, read: readDocument }, asking),
    attach: (sessionId, attachOptions) =>
      openAttachment({ transport, getSession }, sessionId, attachOptions),
    terminals: (terminalsOptions) => openTerminals(transport, terminalsOptions),
  };
  const getSession = (session_id: string, signal: AbortSignal) =>
    client.call("session.get", { session_id }, { signal });
  return client;
}

interface TypedStream extends StreamOptions {
  readonly name: StreamName;
  readonly input: OperationInput<StreamName>;
}

async function* followTyped(
  client: Client,
  transport: Transport,
  { name, input, ...how }: TypedStream,
): AsyncGenerator<StreamItem<unknown>, void, void> {
  const { session_id, since, follow } = input as Partial<OperationInput<"session.events">>;
  // What is there, then the end: an end is the end.
  const resumption = follow === false ? "none" : resumptions[name];
  if (since !== "tail" || session_id === undefined) {
    yield* followStream(transport, { name, input, resumption, ...how });
    return;
  }
  // The end as a number, so that a cut before the first event loses nothing.
  const { events_tail } = await client.call("session.get", { session_id }, { signal: how.signal });
  const from = { ...input, since: events_tail };
  yield* followStream(transport, { name, input: from, resumption, ...how });
}
