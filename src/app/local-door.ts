import { Fault } from "#contract/fault.ts";
import type { OutputRange } from "#contract/operations/reading.ts";
import {
  type Asking,
  type Document,
  type DocumentName,
  type OperationCalls,
  type OperationInput,
  type OperationName,
  type Operations,
  operations as table,
} from "#contract/operations.ts";
import { parseRequest } from "#contract/parse.ts";
import { defined } from "#contract/values/defined.ts";

/** Operations that run in this process, asked for as a client asks a server. */
export interface LocalDoor extends OperationCalls {
  output(input: OperationInput<"session.output">, asking?: Asking): Promise<OutputRange>;
  document<N extends DocumentName>(
    name: N,
    input: OperationInput<N>,
    asking?: Asking,
  ): Promise<Document>;
}

type Handler<A> = (input: unknown, options: { readonly signal?: AbortSignal }) => Promise<A>;

/** What it has no handler for is `unsupported`: a server may have it. */
export function createLocalDoor(operations: Partial<Operations>): LocalDoor {
  const ask = async <A>(name: keyof Operations, input: object, { signal }: Asking): Promise<A> => {
    signal?.throwIfAborted();
    // The table ties each name to its input and its answer; one by one, and so for a name of many.
    const handler = operations[name] as unknown as Handler<A> | undefined;
    if (handler === undefined) throw onlyOnServer(name);
    return await handler(check(name, input), defined({ signal }));
  };
  return {
    call: (name, input, asking = {}) => ask(name, input, asking),
    stream: (name, input, asking = {}) => begin(() => ask(name, input, asking), asking.signal),
    output: (input, asking = {}) => ask("session.output", input, asking),
    document: (name, input, asking = {}) => ask(name, input, asking),
  };
}

/** As a server would: what is not known, or wrong, is refused by its name. */
function check(name: OperationName, input: object): unknown {
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

function onlyOnServer(name: string): Fault {
  return new Fault("unsupported", `${name} needs a server; start one with reins serve`);
}
