import type * as z from "zod";
import { accessOperations } from "./operations/access.ts";
import { agentOperations } from "./operations/agent.ts";
import type { AnswerKind, OperationSpec } from "./operations/operation-spec.ts";
import { processOperations } from "./operations/process.ts";
import { readingOperations } from "./operations/reading.ts";
import { serverOperations } from "./operations/server.ts";
import { sessionOperations } from "./operations/session.ts";
import { shellOperations } from "./operations/shell.ts";
import { workspaceOperations } from "./operations/workspace.ts";

/**
 * The one table of what Reins can do. HTTP routes, the OpenAPI document, the typed client, the tools for models
 * and the cli's help follow from a row; adding a capability is a row, a handler and a test.
 */
export const operations = {
  ...sessionOperations,
  ...readingOperations,
  ...shellOperations,
  ...processOperations,
  ...agentOperations,
  ...workspaceOperations,
  ...accessOperations,
  ...serverOperations,
} as const satisfies Record<string, OperationSpec>;

export type OperationName = keyof typeof operations;
export type OperationInput<N extends OperationName> = z.input<(typeof operations)[N]["input"]>;
/** What a handler is given. The durations of processes have become milliseconds on the way in. */
export type HandlerInput<N extends OperationName> = N extends `process.${string}`
  ? z.output<(typeof operations)[N]["input"]>
  : OperationInput<N>;
export type OperationOutput<N extends OperationName> = z.output<(typeof operations)[N]["output"]>;
type Answers<N extends OperationName> = (typeof operations)[N]["answers"];
type NameOf<K extends AnswerKind> = {
  [N in OperationName]: Answers<N> extends K ? N : never;
}[OperationName];

export type CallName = NameOf<"json">;
export type StreamName = NameOf<"stream">;
export type DocumentName = NameOf<"document">;

/** Operations asked for by their names: a client of a server has them, and so has a process with the handlers in it. */
export interface OperationCalls {
  /** Any operation that answers with JSON. */
  call<N extends CallName>(
    name: N,
    input: OperationInput<N>,
    asking?: Asking,
  ): Promise<OperationOutput<N>>;
  stream<N extends StreamName>(
    name: N,
    input: OperationInput<N>,
    asking?: Asking,
  ): AsyncIterable<StreamItem<OperationOutput<N>>>;
}

export interface Asking {
  readonly signal?: AbortSignal | undefined;
}

/** One event of a stream; a client that comes back says the id that it saw last. */
export interface StreamItem<T> {
  readonly id?: number | undefined;
  readonly data: T;
  /** The very text that `data` was read from, where there is one: who passes it on need not write it anew. */
  readonly text?: string | undefined;
}

/** A file on its way. */
export interface Document {
  readonly media_type: string;
  /** What a browser would save it as. */
  readonly file_name?: string | undefined;
  readonly body: AsyncIterable<Uint8Array | string>;
}

/** What a handler answers. For streams and documents everything that can be refused is refused before the first item. */
type OperationAnswer<N extends OperationName> =
  Answers<N> extends "stream"
    ? AsyncIterable<StreamItem<OperationOutput<N>>>
    : Answers<N> extends "document"
      ? Document
      : OperationOutput<N>;

/** Everything but the sockets, whose frames are their own protocol. */
export type HandledName = {
  [N in OperationName]: Answers<N> extends "socket" ? never : N;
}[OperationName];

/** One handler for each operation. */
export type Operations = {
  readonly [N in HandledName]: (
    input: HandlerInput<N>,
    options?: { readonly signal?: AbortSignal },
  ) => Promise<OperationAnswer<N>>;
};
