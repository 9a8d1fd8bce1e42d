import { Backoff } from "#client/transport/backoff.ts";
import { isPassing, noAnswer } from "#client/transport/refusal.ts";
import { routes } from "#client/transport/routes.ts";
import { asFault, Fault } from "#contract/fault.ts";
import type { OperationName } from "#contract/operations.ts";
import type { Asking, Transport } from "./transport.ts";

const ATTEMPTS = 3;
const RETRY_AFTER_LONGEST_MS = 2000;

export interface Call<T> {
  readonly name: OperationName;
  readonly input: object;
  read(response: Response): Promise<T> | T;
}

/** Asks, and asks again when that is safe and the server was only away for a moment. */
export async function callServer<T>(
  transport: Transport,
  call: Call<T>,
  asking: Asking = {},
): Promise<T> {
  const backoff = new Backoff(transport.random);
  const attempts = isRepeatable(call.name, call.input) ? ATTEMPTS : 1;
  for (;;) {
    try {
      return await ask(transport, call, asking);
    } catch (error) {
      asking.signal?.throwIfAborted();
      const fault = asFault(error);
      if (!isPassing(fault) || backoff.attempts + 1 >= attempts) throw error;
      await transport.pause(Math.max(backoff.next(), askedFor(fault)), asking.signal);
    }
  }
}

async function ask<T>(transport: Transport, call: Call<T>, asking: Asking): Promise<T> {
  const response = await transport.request(call.name, call.input, asking);
  try {
    return await call.read(response);
  } catch (error) {
    asking.signal?.throwIfAborted();
    // An answer that broke off in the middle.
    throw error instanceof Fault ? error : noAnswer(response.url, error);
  }
}

/** A reading changes nothing, and what carries a key of its own is applied once. */
function isRepeatable(name: OperationName, input: object): boolean {
  if (routes[name].startsWith("GET ")) return true;
  const { idempotency_key, input_id } = input as Record<string, unknown>;
  return idempotency_key !== undefined || input_id !== undefined;
}

function askedFor({ details }: Fault): number {
  const seconds = details.retry_after_s;
  return typeof seconds === "number" ? Math.min(RETRY_AFTER_LONGEST_MS, seconds * 1000) : 0;
}
