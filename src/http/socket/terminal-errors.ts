import { asFault, type Fault } from "#contract/fault.ts";
import type { FaultCode } from "#contract/faults.ts";
import { TerminalClientFrame, type TerminalServerFrame } from "#contract/terminal-frames.ts";
import { isObject } from "#contract/values/is-object.ts";

type Payload<F, T> =
  Extract<F, { readonly type: T }> extends { readonly payload: infer P } ? P : never;
type TerminalError = Payload<TerminalServerFrame, "terminal.error">;
export type Ids = Pick<TerminalError, "request_id" | "session_id">;

const [, attachFrame] = TerminalClientFrame.options;
const { request_id: RequestId, session_id: SessionId } = attachFrame.shape.payload.shape;

/** What an answer can be told by, also when the rest of the frame is wrong. */
export function findIds(frame: unknown): Ids {
  const payload = isObject(frame) && isObject(frame.payload) ? frame.payload : {};
  const request = RequestId.safeParse(payload.request_id);
  const session = SessionId.safeParse(payload.session_id);
  return {
    ...(request.success ? { request_id: request.data } : {}),
    ...(session.success ? { session_id: session.data } : {}),
  };
}

/** The codes that this socket has other words for: an ended session is forgotten here, and a task has one workspace. */
const renamed: Partial<Record<FaultCode, FaultCode>> = {
  already_exited: "session_not_found",
  workspace_not_found: "workspace_mismatch",
};

/** What the client is told. Of a mistake of ours it hears no more than that. */
export function describeError(error: unknown): Pick<Fault, "code" | "message"> {
  const { code, message } = asFault(error);
  if (code === "internal")
    return { code, message: "something went wrong here; the server's log says what" };
  return { code: renamed[code] ?? code, message };
}
