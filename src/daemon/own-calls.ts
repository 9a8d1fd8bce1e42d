import type { Client } from "#client/client.ts";
import { Fault } from "#contract/fault.ts";
import type { Asking, Document, OperationCalls, Operations } from "#contract/operations.ts";
import { defined } from "#contract/values/defined.ts";

/** A client's calls, without its attachments. */
export type OwnCalls = Pick<Client, keyof OperationCalls | "output" | "document">;

export interface OwnHandlers {
  /** Operations that have no handler are `unsupported`. */
  find(name: keyof Operations): Promise<Partial<Operations>>;
  /** Whether the input is checked here, as a server does. False: the handler, or the host behind it, checks it. */
  isChecked(name: keyof Operations): boolean;
}

type Handler<A> = (input: unknown, options: { readonly signal?: AbortSignal }) => Promise<A>;

/** Operations that run in this process, called as a client calls a server. */
export function createOwnCalls({ find, isChecked }: OwnHandlers): OwnCalls {
  const ask = async <A>(name: keyof Operations, input: object, { signal }: Asking): Promise<A> => {
    signal?.throwIfAborted();
    // The table ties each name to its input and its answer; one by one, and so for a name of many.
    const handler = (await find(name))[name] as unknown as Handler<A> | undefined;
    if (handler === undefined) throw onlyOnServer(name);
    return await handler(isChecked(name) ? await check(name, input) : input, defined({ signal }));
  };
  return {
    call: (name, input, asking = {}) => ask(name, input, asking),
    stream: (name, input, asking = {}) => begin(() => ask(name, input, asking), asking.signal),
    output: (input, asking = {}) => ask("session.output", input, asking),
    document: async (name, input, asking = {}) => {
      const { media_type, file_name, body } = await ask<Document>(name, input, asking);
      return { media_type, file_name, body: ReadableStream.from(encode(body)) };
    },
  };
}

/** For operations that are all there from the start. */
export function createCallsOf(operations: Partial<Operations>): OwnCalls {
  return createOwnCalls({ find: async () => operations, isChecked: () => true });
}

/** Unknown and wrong fields are refused by name. The schemas are loaded with the first operation that needs them. */
async function check(name: keyof Operations, input: object): Promise<unknown> {
  const [{ operations: table }, { parseRequest }] = await Promise.all([
    import("#contract/operations.ts"),
    import("#contract/parse.ts"),
  ]);
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  return parseRequest(table[name].input, Object.fromEntries(given));
}

/** As a client does: nothing is asked before somebody reads. */
async function* begin<T>(
  open: () => Promise<AsyncIterable<T>>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, void> {
  yield* await open();
  signal?.throwIfAborted();
}

async function* encode(body: Document["body"]): AsyncGenerator<Uint8Array, void, void> {
  for await (const piece of body) yield typeof piece === "string" ? Buffer.from(piece) : piece;
}

function onlyOnServer(name: string): Fault {
  return new Fault("unsupported", `${name} needs a server; start one with reins serve`);
}
