import { asFault, Fault } from "#contract/fault.ts";
import type { FaultCode } from "#contract/faults.ts";
import { EXECD_HEADER, type Visit } from "#http/auth.ts";
import { describeFault, type FaultAnswer, sayMessage } from "#http/fault-response.ts";

/** The paths of the execd API that are served, and what is below them. */
const SERVED = /^\/(?:session|command|ping|ws\/session)(?:\/|$)/;
/** Those that it has and this server does not. */
const NOT_BUILT = /^\/(?:code|files|directories|pty|proxy|metrics\/watch)(?:\/|$)/;
/** Its API for isolated sessions is below a path of ours. */
const ISOLATED = /^\/v1\/isolated(?:\/|$)/;
const OURS = /^\/(?:v1|mcp)(?:\/|$)/;
const NOT_FOUND = 404;

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

/** Whether a request is of that API: by its path, or by its header where the path is not one of ours. */
export function isExecdRequest({ path, header }: Asked): boolean {
  if (SERVED.test(path) || NOT_BUILT.test(path)) return true;
  return header(EXECD_HEADER) !== undefined && (!OURS.test(path) || ISOLATED.test(path));
}

export interface Asked extends Pick<Visit, "header"> {
  readonly path: string;
}

/** A refusal in the shape of the API that was asked. */
export function describeFaultAt(asked: Asked, error: unknown, requestId: string): FaultAnswer {
  const answer = describeFault(error, requestId);
  if (!isExecdRequest(asked)) return answer;
  const fault = asFault(error);
  const body = JSON.stringify({ code: execdCode(fault), message: execdMessage(fault) });
  return { ...answer, body, ...(fault.details.no_route === true ? { status: NOT_FOUND } : {}) };
}

export function execdCode({ code, details }: Fault): string {
  if (details.no_route === true) return "NOT_FOUND";
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

/** Of that API, and not built here; or of no API at all. */
export function noExecdRoute(method: string, path: string): Fault {
  if (NOT_BUILT.test(path) || ISOLATED.test(path))
    return new Fault(
      "unsupported",
      `${method} ${path} is not supported: of the execd API this server has commands, sessions and metrics`,
    );
  return new Fault("invalid_request", `the execd API has no ${method} ${path}`, {
    details: { no_route: true },
  });
}
