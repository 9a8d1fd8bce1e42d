import { followOutput } from "#app/follow-output.ts";
import type { Local } from "#cli/context.ts";
import { printable } from "#cli/printable.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import { endOf } from "#log/log-source.ts";
import { readRange } from "#log/read-range.ts";
import type { LogReader, SessionHandle } from "#session/session-host.ts";
import { type Ending, onLeaving, reportEnding } from "./ending.ts";
import { DETACH_HINT } from "./key-chords.ts";
import { typeInto } from "./keyboard.ts";
import { openRawMode } from "./raw-mode.ts";
import { Screen } from "./screen.ts";
import { openSeat, type Seat, type SeatRequest } from "./seat.ts";

export interface AttachOptions extends SeatRequest {
  /** Undefined: the last part of what was printed. */
  readonly since: number | undefined;
  readonly isNew: boolean;
}

/** How much of the past somebody sees who comes back. */
const HISTORY_BYTES = 256 * 1024;
/** And how much before that is looked through for the modes that a program has set. */
const MODES_BYTES = 4 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
const RENEW_MS = 10_000;

/** This terminal becomes the session's until it ends or somebody detaches; the exit code is the session's. */
export async function attachTerminal(
  local: Local,
  session: Session,
  options: AttachOptions,
): Promise<number> {
  using handle = await local.hosts.of(session.session_id).open(session.session_id);
  using seat = await openSeat(local, session, options);
  const historyEnd = options.isNew ? 0 : handle.tail;
  const screen = new Screen({ historyEnd });
  screen.notice(options.isNew ? DETACH_HINT : `attached to ${session.session_id}; ${DETACH_HINT}`);
  if (seat.holder !== undefined && options.role === "controller")
    screen.notice(`${printable(seat.holder)} types here, you watch; Ctrl-\\ t takes over`);
  const since = options.since ?? Math.max(handle.output.first(), historyEnd - HISTORY_BYTES);
  const ending = await converse({ handle, seat, screen }, { since, historyEnd });
  const { session_id } = session;
  return reportEnding(ending, { session_id, back: `reins attach ${session_id}` }, screen);
}

interface Conversation {
  readonly handle: SessionHandle;
  readonly seat: Seat;
  readonly screen: Screen;
}

interface Span {
  readonly since: number;
  /** Up to here it had been printed before we came. */
  readonly historyEnd: number;
}

async function converse(
  { handle, seat, screen }: Conversation,
  { since, historyEnd }: Span,
): Promise<Ending> {
  const left = new AbortController();
  let ending: Ending | undefined;
  const leave = (why: Ending) => {
    ending ??= why;
    left.abort();
  };
  seat.onError = (error) => leave({ kind: "failed", error });
  using stack = new DisposableStack();
  stack.use(openRawMode(() => screen.undo()));
  stack.use(onLeaving(leave));
  stack.use(typeInto(seat, () => leave({ kind: "detached" })));
  stack.use(renewLease(seat));
  stack.use(watchControl({ handle, seat, screen }));
  await recall(handle.output, screen, since);
  let isBehind = true;
  const reached = (offset: number) => {
    if (!isBehind || offset < historyEnd) return;
    isBehind = false;
    if (screen.isAlternate) seat.repaint();
  };
  reached(since);
  const following = { since, until: "exit", signal: left.signal } as const;
  for await (const chunk of followOutput(handle, following)) {
    if (chunk.kind === "bytes") await screen.write(chunk.offset, chunk.bytes);
    else screen.notice(`${chunk.to - chunk.from} bytes are no longer kept`);
    if (!isBehind) seat.printed();
    reached(endOf(chunk));
  }
  return ending ?? describeEnd(handle.session);
}

/** The modes that what comes before `since` has set: without them a full-screen program would paint over the shell. */
async function recall(source: LogReader, screen: Screen, since: number): Promise<void> {
  const from = Math.max(source.first(), since - MODES_BYTES);
  // Outside of the log: following it will say so.
  if (since <= from || since > source.tail()) return;
  for await (const chunk of readRange(source, from, { to: since, limit: CHUNK_BYTES }))
    if (chunk.kind === "bytes") screen.skip(chunk.bytes);
  await screen.recall();
}

/** As long as somebody sits here, control is kept. */
function renewLease(seat: Seat): Disposable {
  const renewal = setInterval(() => seat.renew(), RENEW_MS);
  return { [Symbol.dispose]: () => clearInterval(renewal) };
}

/** Says so when somebody else has taken control. */
function watchControl({ handle, seat, screen }: Conversation): Disposable {
  const watching = new AbortController();
  const { signal } = watching;
  const look = async () => {
    while (!signal.aborted && handle.state !== "closed") {
      const holder = seat.lostTo(handle.session);
      if (holder !== undefined)
        screen.notice(`${printable(holder)} has taken control; Ctrl-\\ t takes it back`);
      await handle.changed({ signal });
    }
  };
  void look().catch(seat.onError);
  return { [Symbol.dispose]: () => watching.abort() };
}

function describeEnd({ state }: Session): Ending {
  if (state.kind === "lost") return { kind: "lost" };
  if (state.kind !== "exited") return { kind: "host_gone" };
  const { exit_code, signal, reason, detail } = state;
  return { kind: "exited", exit_code, signal, reason, ...defined({ detail }) };
}
