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

/** Any error as a fault: a fault stays what it is, the rest is a bug. */
export function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Fault("internal", message, { cause: error });
}
