import { type FaultCode, isFaultCode } from "./faults.ts";

type Details = Readonly<Record<string, unknown>>;

/** What every door answers with when something expected went wrong. */
export interface FaultBody {
  readonly code: FaultCode;
  readonly message: string;
  readonly details?: Details;
}

/** An expected failure. Across a process match on `code`, never on the class or the text. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly details: Details;

  constructor(
    code: FaultCode,
    message: string,
    options: { readonly details?: Details; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "Fault";
    this.code = code;
    this.details = options.details ?? {};
  }
}

export function toFaultBody(fault: Fault): FaultBody {
  return { code: fault.code, message: fault.message, details: fault.details };
}

/** A fault that came over a wire; an unknown code from a newer peer becomes `internal` with the code in its details. */
export function fromFaultBody(body: {
  readonly code: string;
  readonly message: string;
  readonly details?: Details | undefined;
}): Fault {
  if (isFaultCode(body.code)) {
    return new Fault(body.code, body.message, { details: body.details ?? {} });
  }
  return new Fault("internal", body.message, { details: { ...body.details, code: body.code } });
}

/** What the system refuses for want of something, by its own names. Nobody's mistake, and it may pass. */
const scarce: Readonly<Record<string, { readonly code: FaultCode; readonly sentence: string }>> = {
  EMFILE: {
    code: "overloaded",
    sentence: "no file descriptors are left in the process that was asked; try again in a moment",
  },
  ENFILE: {
    code: "overloaded",
    sentence: "no file descriptors are left on this machine; try again in a moment",
  },
  ENOSPC: { code: "disk_full", sentence: "there is no room left on the disk; make room first" },
  EDQUOT: {
    code: "disk_full",
    sentence: "what this user may keep on the disk is used up; make room first",
  },
};
/** A thread that could not be started says why in its message alone. */
const THREAD_FAILED = "ERR_WORKER_INIT_FAILED";

/** The one place where the system's names become ours; undefined for what is no such lack. */
export function findScarcity(error: unknown): Fault | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const errno = error.code === THREAD_FAILED ? /\bE[A-Z]+\b/.exec(error.message)?.[0] : error.code;
  if (typeof errno !== "string" || !Object.hasOwn(scarce, errno)) return undefined;
  const found = scarce[errno];
  return found && new Fault(found.code, found.sentence, { details: { errno }, cause: error });
}

/** A bug, or the machine itself: what only our own log can explain. */
export function isUnexpected(error: unknown): boolean {
  return !(error instanceof Fault) || error.code === "internal";
}

/** Any error as a fault: a fault stays what it is, a lack of the system's has its name, the rest is a bug. */
export function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const lack = findScarcity(error);
  if (lack !== undefined) return lack;
  const message = error instanceof Error ? error.message : String(error);
  return new Fault("internal", message, { cause: error });
}
