import { asFault, Fault } from "#contract/fault.ts";
import { faults } from "#contract/faults.ts";
import { printable } from "./printable.ts";

/** The one place where a fault becomes an exit code. */
export function exitCodeOf(error: unknown): number {
  return faults[asFault(error).code].exit;
}

export function sayFault(error: unknown): void {
  const fault = asFault(error);
  process.stderr.write(`reins: ${printable(fault.message)}\n`);
  // A bug: what is needed to find it.
  if (!(error instanceof Fault) && error instanceof Error) process.stderr.write(`${error.stack}\n`);
}
