import { asFault, Fault } from "#contract/fault.ts";
import type { FaultCode } from "#contract/faults.ts";
import { describeFault, type FaultAnswer, sayMessage } from "#http/fault-response.ts";

/** The paths of the execd API, those that are not served included: all of them are refused in its shape. */
const PATHS = /^\/(?:session|command|ping|ws\/session|code|files|directories|pty|proxy)(?:\/|$)/;

/** Faults that have a name of their own there; everything else went wrong while it ran. */
const codes: Partial<Record<FaultCode, string>> = {
  invalid_request: "INVALID_REQUEST_BODY",
  payload_too_large: "INVALID_REQUEST_BODY",
  unauthenticated: "UNAUTHORIZED",
  forbidden: "FORBIDDEN",
  workspace_mismatch: "FORBIDDEN",
  session_not_found: "CONTEXT_NOT_FOUND",
  shell_not_found: "CONTEXT_NOT_FOUND",
  workspace_not_found: "CONTEXT_NOT_FOUND",
  not_controller: "ALREADY_CONNECTED",
  unsupported: "NOT_SUPPORTED",
  unsupported_os: "NOT_SUPPORTED",
};

export function isExecdPath(path: string): boolean {
  return PATHS.test(path);
}

/** A refusal in the shape of the API that the path belongs to. Status and headers are the same everywhere. */
export function describeFaultAt(path: string, error: unknown, requestId: string): FaultAnswer {
  const answer = describeFault(error, requestId);
  if (!isExecdPath(path)) return answer;
  const fault = asFault(error);
  const body = JSON.stringify({ code: execdCode(fault), message: execdMessage(fault) });
  return { ...answer, body };
}

export function execdCode({ code, details }: Fault): string {
  if (code === "invalid_request" && details.missing_query === true) return "MISSING_QUERY";
  return codes[code] ?? "RUNTIME_ERROR";
}

/** What we call a shell is a session there, and our session is a command. */
export function execdMessage(fault: Fault): string {
  const { code, details } = fault;
  if (code === "shell_not_found") return `there is no session ${String(details.shell_id)}`;
  if (code === "session_not_found") return `there is no command ${String(details.session_id)}`;
  return sayMessage(fault);
}

export function missingQuery(name: string): Fault {
  return new Fault("invalid_request", `${name}: missing in the query`, {
    details: { field: name, missing_query: true },
  });
}

export function noExecdRoute(method: string, path: string): Fault {
  return new Fault(
    "unsupported",
    `there is no ${method} ${path} here: of the execd API this server has commands and sessions`,
  );
}
