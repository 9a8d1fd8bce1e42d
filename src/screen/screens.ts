import { type Clock, systemClock } from "#base/clock.ts";
import { locateWorkerFile } from "#base/worker-file.ts";
import { Fault } from "#contract/fault.ts";
import type { ScreenState, ScreenText } from "#contract/operations/screen.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";
import { DrawingProcess } from "./drawing-process.ts";
import type { ScreenAnswer, ScreenRequest } from "./requests.ts";
import { WARM_STEP_BYTES, WarmSessions } from "./warm-sessions.ts";

/** What stands on the screens of sessions, drawn in a thread of their own from the logs. */
export interface Screens extends AsyncDisposable {
  /** As it was behind the offset; absent = now. */
  text(handle: SessionHandle, at?: number): Promise<ScreenText>;
  state(handle: SessionHandle, at?: number): Promise<ScreenState>;
}

interface ScreensOptions {
  readonly hosts: SessionHosts;
  readonly clock?: Clock;
  /** How much a session that was asked for may print before it is drawn without being asked. */
  readonly warmStepBytes?: number;
}

/** What is printed to a pipe has no size; it is shown as on a terminal that nobody has resized. */
const PIPE_SIZE = { cols: 80, rows: 24 };

export function openScreens(options: ScreensOptions): Screens {
  const drawing = new DrawingProcess(locateWorkerFile(import.meta.url, "screen-worker"));
  const describe = (handle: SessionHandle, what: Pick<ScreenRequest, "format" | "at">) =>
    describeRequest(handle, what);
  const warm = new WarmSessions({
    hosts: options.hosts,
    clock: options.clock ?? systemClock,
    stepBytes: options.warmStepBytes ?? WARM_STEP_BYTES,
    advance: async (handle) => {
      const { offset } = await drawing.ask(describe(handle, { format: "none", at: undefined }));
      return offset;
    },
  });
  const ask = async (
    handle: SessionHandle,
    format: "text" | "state",
    at: number | undefined,
  ): Promise<ScreenAnswer> => {
    const answer = await drawing.ask(describe(handle, { format, at }));
    if (at === undefined) warm.touch(handle.session, answer.offset);
    return answer;
  };
  return {
    // The worker answers in the format that it was asked for.
    text: async (handle, at) => (await ask(handle, "text", at)) as ScreenText,
    state: async (handle, at) => (await ask(handle, "state", at)) as ScreenState,
    [Symbol.asyncDispose]: async () => {
      await drawing[Symbol.asyncDispose]();
      await warm[Symbol.asyncDispose]();
    },
  };
}

function describeRequest(
  handle: SessionHandle,
  { format, at }: Pick<ScreenRequest, "format" | "at">,
): ScreenRequest {
  const { session_id, kind, mode, cols, rows } = handle.session;
  if (kind === "agent")
    throw new Fault("unsupported", "an agent has no screen; follow its events instead");
  return {
    session_id,
    folder: handle.folder,
    format,
    at,
    // A host that has gone tells nothing more; the files may hold more than it told.
    tail: handle.state === "closed" ? Math.max(handle.tail, handle.output.tail()) : handle.tail,
    sizeAtTail: cols === null || rows === null ? PIPE_SIZE : { cols, rows },
    convertEol: mode === "pipe",
  };
}
