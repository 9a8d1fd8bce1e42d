import type { Who } from "#app/caller.ts";
import { Fault } from "#contract/fault.ts";
import { type AuthDeps, authorize, type Visit } from "./auth.ts";
import type { OpenVisits } from "./open-visits.ts";
import { readBody } from "./request-input.ts";

export const MCP_PATH = "/mcp";

/** Answers MCP; what it needs to know of a request that has passed the door. */
export type AnswerMcp = (
  request: Request,
  visit: {
    readonly caller: Who;
    readonly body: Uint8Array;
    /** Ends what it waits for, for the reason given; aborted as well when the answer has left. */
    readonly signal: AbortSignal;
  },
) => Promise<Response>;

interface McpDeps extends AuthDeps {
  readonly mcp: AnswerMcp;
  readonly visits: OpenVisits;
  readonly stopping: AbortSignal;
}

export interface McpRequest {
  readonly raw: Request;
  readonly visit: Visit;
  readonly onCaller: (caller: Who) => void;
  /** Calls when the answer has left. */
  readonly onSent: (sent: () => void) => void;
}

const FINISHED = "finished";

/** MCP over HTTP, behind the same door as everything else; the protocol itself is not ours. */
export async function answerMcp(deps: McpDeps, request: McpRequest): Promise<Response> {
  const { raw, visit, onCaller, onSent } = request;
  const caller = authorize(deps, visit, { role: "operator" });
  onCaller(caller);
  const body = await readBody(raw);
  deps.stopping.throwIfAborted();
  const ending = new AbortController();
  const stop = () => ending.abort(stopped());
  using stack = new DisposableStack();
  stack.use(deps.visits.enter(caller, (fault) => ending.abort(fault)));
  deps.stopping.addEventListener("abort", stop, { once: true });
  stack.defer(() => deps.stopping.removeEventListener("abort", stop));
  stack.defer(() => ending.abort(FINISHED));
  const response = await deps.mcp(raw, { caller, body, signal: ending.signal });
  const held = stack.move();
  onSent(() => held.dispose());
  return response;
}

function stopped(): Fault {
  return new Fault("shutting_down", "the server stops; what runs goes on, ask the next one for it");
}
