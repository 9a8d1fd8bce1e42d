import { join } from "node:path";
import { type Clock, systemClock } from "#base/clock.ts";
import { locateWorkerFile } from "#base/worker-file.ts";
import { Fault } from "#contract/fault.ts";
import type { ScreenState, ScreenText } from "#contract/operations/screen.ts";
import type { SessionFeed, SessionFeeds } from "#session/session-feeds.ts";
import { DrawingProcess } from "./drawing-process.ts";
import type { ScreenAnswer, ScreenRequest } from "./requests.ts";
import { WARM_STEP_BYTES, WarmSessions } from "./warm-sessions.ts";

/** What stands on the screens of sessions, drawn in a thread of their own from the logs. */
export interface Screens extends AsyncDisposable {
  /** As it was behind the offset; absent = now. */
  text(feed: SessionFeed, at?: number): Promise<ScreenText>;
  state(feed: SessionFeed, at?: number): Promise<ScreenState>;
}

export interface ScreensOptions {
  readonly feeds: SessionFeeds;
  readonly sessionsFolder: string;
  readonly clock?: Clock;
  /** How much a session that was asked for may print before it is drawn without being asked. */
  readonly warmStepBytes?: number;
}

/** What is printed to a pipe has no size; it is shown as on a terminal that nobody has resized. */
const PIPE_SIZE = { cols: 80, rows: 24 };

export function openScreens(options: ScreensOptions): Screens {
  const drawing = new DrawingProcess(locateWorkerFile(import.meta.url, "screen-worker"));
  const describe = (feed: SessionFeed, what: Pick<ScreenRequest, "format" | "at">) =>
    describeRequest(options.sessionsFolder, feed, what);
  const warm = new WarmSessions({
    feeds: options.feeds,
    clock: options.clock ?? systemClock,
    stepBytes: options.warmStepBytes ?? WARM_STEP_BYTES,
    advance: async (feed) => {
      const { offset } = await drawing.ask(describe(feed, { format: "none", at: undefined }));
      return offset;
    },
  });
  const ask = async (
    feed: SessionFeed,
    format: "text" | "state",
    at: number | undefined,
  ): Promise<ScreenAnswer> => {
    const answer = await drawing.ask(describe(feed, { format, at }));
    if (at === undefined) warm.touch(feed.session, answer.offset);
    return answer;
  };
  return {
    // The worker answers in the format that it was asked for.
    text: async (feed, at) => (await ask(feed, "text", at)) as ScreenText,
    state: async (feed, at) => (await ask(feed, "state", at)) as ScreenState,
    [Symbol.asyncDispose]: async () => {
      await drawing[Symbol.asyncDispose]();
      await warm[Symbol.asyncDispose]();
    },
  };
}

function describeRequest(
  sessionsFolder: string,
  feed: SessionFeed,
  { format, at }: Pick<ScreenRequest, "format" | "at">,
): ScreenRequest {
  const { session_id, kind, mode, cols, rows } = feed.session;
  if (kind === "agent")
    throw new Fault("unsupported", "an agent has no screen; follow its events instead");
  return {
    session_id,
    folder: join(sessionsFolder, session_id),
    format,
    at,
    // A host that has gone tells nothing more; the files may hold more than it told.
    tail: feed.watch.isClosed ? Math.max(feed.watch.tail, feed.output.tail()) : feed.watch.tail,
    sizeAtTail: cols === null || rows === null ? PIPE_SIZE : { cols, rows },
    convertEol: mode === "pipe",
  };
}
