import { asFault, type Fault } from "#contract/fault.ts";
import { faults } from "#contract/faults.ts";

const RETRY_AFTER_S = 1;

/** The one shape of every refusal, on every route and before every upgrade. */
export interface FaultAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function describeFault(error: unknown, requestId: string): FaultAnswer {
  const fault = asFault(error);
  const { status, retry } = faults[fault.code];
  const after = fault.details.retry_after_s;
  return {
    status,
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "X-Request-Id": requestId,
      ...(fault.code === "unauthenticated" ? { "WWW-Authenticate": "Bearer" } : {}),
      ...(retry
        ? { "Retry-After": String(typeof after === "number" ? after : RETRY_AFTER_S) }
        : {}),
    },
    body: JSON.stringify({
      error: {
        code: fault.code,
        message: sayMessage(fault),
        details: fault.code === "internal" ? {} : fault.details,
        request_id: requestId,
      },
    }),
  };
}

/** The same in two words, for what is said after an answer or a socket has begun. */
export function sayFault(error: unknown): Pick<Fault, "code" | "message"> {
  const fault = asFault(error);
  return { code: fault.code, message: sayMessage(fault) };
}

/** What nobody expected is in the server's log, with the request's id; the words of a bug are no caller's business. */
export function sayMessage(fault: Fault): string {
  if (fault.code !== "internal") return fault.message;
  return "something went wrong inside Reins; the server's log has it under this request's id";
}

export function faultResponse(error: unknown, requestId: string): Response {
  const { status, headers, body } = describeFault(error, requestId);
  return new Response(body, { status, headers });
}
