import { Fault } from "#contract/fault.ts";
import { type FaultCode, faults } from "#contract/faults.ts";

/** Close codes that are not worth another attempt. */
export const finalCodes: Readonly<Record<number, FaultCode>> = {
  1009: "payload_too_large",
  4401: "unauthenticated",
  4403: "forbidden",
  4404: "session_not_found",
};
export const TAKEN_OVER = 4001;

export function mayGetBetter({ code }: Fault): boolean {
  return faults[code].retry || code === "internal";
}

export function notController(sentence: string): Fault {
  return new Fault("not_controller", sentence);
}

export function hasExited(): Fault {
  return new Fault("already_exited", "the session has ended");
}

export function detached(): Fault {
  return new Fault("conflict", "this attachment has been detached");
}

/** A refusal is an event as well: a caller that does not wait for the answer is not told twice. */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
