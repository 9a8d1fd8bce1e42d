import type { Patterns } from "#app/read/patterns.ts";
import { hostGone, type WaitEnding } from "#app/read/wait-scan.ts";
import type { Clock } from "#base/clock.ts";
import { pause } from "#base/pause.ts";
import { hasEnded, isFinal } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import type { ScreenText } from "#contract/operations/screen.ts";
import type { ToolInput } from "#contract/tools/tools.ts";
import type { Screens } from "#screen/screens.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { waitForQuiet } from "./quiet.ts";
import { lookAt, type Sight, toText } from "./terminal-view.ts";

interface ScreenWaitDeps {
  readonly screens: Screens;
  readonly patterns: Patterns;
  readonly clock: Clock;
}

interface ScreenWait {
  readonly deps: ScreenWaitDeps;
  readonly handle: SessionHandle;
  readonly ending: WaitEnding;
  readonly signal: AbortSignal | undefined;
}

export type ScreenQuestion = Pick<ToolInput<"terminal_wait">, "for" | "text" | "pattern" | "idle">;

interface Outcome {
  readonly matched: boolean;
  readonly sight: Sight;
}

/** Answers whether this is the screen that was waited for. */
type Check = (screen: ScreenText) => boolean | Promise<boolean>;

const IDLE_MS = 1000;
/** Between two drawings, however much is printed. */
const REDRAW_MS = 50;

/** Rejects with `invalid_request` before anything is waited for. */
export async function createScreenWait(
  { patterns }: Pick<ScreenWaitDeps, "patterns">,
  question: ScreenQuestion,
): Promise<(wait: ScreenWait) => Promise<Outcome>> {
  switch (question.for) {
    case "idle":
      return (wait) => waitForIdle(wait, question.idle ?? IDLE_MS);
    case "exit":
      return waitForExit;
    case "text": {
      const text = wanted(question.text, "text");
      return (wait) => waitForScreen(wait, (screen) => holds(screen, text));
    }
    case "regex": {
      const search = await patterns.create(wanted(question.pattern, "pattern"));
      return (wait) =>
        waitForScreen(wait, async (screen) => {
          for (const reading of readings(screen)) {
            const bytes = Buffer.from(reading);
            if ((await search.find({ bytes, from: 0 }, wait.signal)) !== undefined) return true;
          }
          return false;
        });
    }
  }
}

async function waitForIdle({ deps, handle, ending }: ScreenWait, idleMs: number): Promise<Outcome> {
  const { signal } = ending;
  const matched = await waitForQuiet({ handle, clock: deps.clock, signal }, idleMs);
  return { matched, sight: await lookAt(deps.screens, handle) };
}

async function waitForExit({ deps, handle, ending }: ScreenWait): Promise<Outcome> {
  await handle.until(({ session }) => hasEnded(session), ending);
  const matched = hasEnded(handle.session);
  if (!matched && handle.state === "closed" && !ending.isOver)
    throw hostGone(handle.session.session_id);
  return { matched, sight: await lookAt(deps.screens, handle) };
}

/** The screen as it is is always looked at, however short the time; then at each change, but not too often. */
async function waitForScreen(
  { deps, handle, ending }: ScreenWait,
  isWanted: Check,
): Promise<Outcome> {
  const { signal } = ending;
  for (;;) {
    const { state, tail: seen } = handle;
    const drawn = deps.clock.monotonic();
    const sight = await lookAt(deps.screens, handle);
    if (await isWanted(sight.screen)) return { matched: true, sight };
    if (isFinal(sight) || ending.isOver) return { matched: false, sight };
    if (state === "closed") throw hostGone(handle.session.session_id);
    await handle.until(({ tail, session }) => tail > seen || isFinal(session), { signal });
    const left = REDRAW_MS - (deps.clock.monotonic() - drawn);
    if (left > 0) await pause(deps.clock, left, signal);
  }
}

/** Also where a line that is as wide as the screen goes on in the next. */
function holds(screen: ScreenText, text: string): boolean {
  const joined = screen.lines.map((line) => (line.length >= screen.cols ? line : `${line}\n`));
  return [...readings(screen), joined.join("")].some((reading) => reading.includes(text));
}

/** Without the blanks at the ends of lines, and with those before the cursor: they belong to a prompt. */
function readings(screen: ScreenText): string[] {
  const { row, col } = screen.cursor;
  const lines = screen.lines.map((line, index) => (index === row ? line.padEnd(col) : line));
  const plain = toText(screen);
  const prompted = lines.slice(0, Math.max(row + 1, plain.split("\n").length)).join("\n");
  return prompted === plain ? [plain] : [plain, prompted];
}

/** What a wait of this kind cannot do without. */
export function wanted(value: string | undefined, field: "text" | "pattern"): string {
  if (value !== undefined) return value;
  const message = `${field}: say what to wait for`;
  throw new Fault("invalid_request", message, { details: { field } });
}
