import { constants } from "node:os";
import { followOutput, openOutput } from "#app/follow-output.ts";
import { systemClock } from "#base/clock.ts";
import type { Local } from "#cli/context.ts";
import { exitCodeOf, hostGone } from "#cli/exit.ts";
import { printable } from "#cli/printable.ts";
import type { Session } from "#contract/session.ts";
import type { Watch } from "#host/socket/watch.ts";
import { readRange } from "#log/follow.ts";
import type { LogFiles } from "#log/log-files.ts";
import { endOf } from "#log/log-source.ts";
import { DETACH_HINT, KeyChords } from "./key-chords.ts";
import { currentSize, onResize, openRawMode } from "./raw-mode.ts";
import { Screen } from "./screen.ts";
import { openSeat, type Seat, type SeatRequest } from "./seat.ts";

export interface AttachOptions extends SeatRequest {
  /** Undefined: the last part of what was printed. */
  readonly since: number | undefined;
  readonly isNew: boolean;
}

type Ending =
  | { readonly kind: "exited" | "detached" | "host_gone" }
  | { readonly kind: "signalled"; readonly signal: NodeJS.Signals }
  | { readonly kind: "failed"; readonly error: unknown };

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
  using watch = await local.host.watch(session.session_id);
  const seat = await openSeat(local, session, options);
  const historyEnd = options.isNew ? 0 : watch.tail;
  const screen = new Screen({ historyEnd });
  screen.notice(options.isNew ? DETACH_HINT : `attached to ${session.session_id}; ${DETACH_HINT}`);
  if (seat.holder !== undefined && options.role === "controller")
    screen.notice(`${printable(seat.holder)} types here, you watch; Ctrl-\\ t takes over`);
  using source = openOutput(local.dir.sessions, session.session_id);
  const since = options.since ?? Math.max(source.first(), historyEnd - HISTORY_BYTES);
  const ending = await converse({ watch, seat, screen, source }, { since, historyEnd });
  return report(ending, watch.session, screen);
}

interface Conversation {
  readonly watch: Watch;
  readonly seat: Seat;
  readonly screen: Screen;
  readonly source: LogFiles;
}

interface Span {
  readonly since: number;
  /** Up to here it had been printed before we came. */
  readonly historyEnd: number;
}

async function converse(
  { watch, seat, screen, source }: Conversation,
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
  stack.use(watchControl({ watch, seat, screen }));
  await recall(source, screen, since);
  let isBehind = true;
  const reached = (offset: number) => {
    if (!isBehind || offset < historyEnd) return;
    isBehind = false;
    if (screen.isAlternate) seat.repaint();
  };
  reached(since);
  const following = { since, until: "exit", signal: left.signal } as const;
  for await (const chunk of followOutput(source, watch, following)) {
    if (chunk.kind === "bytes") await screen.write(chunk.offset, chunk.bytes);
    else screen.notice(`${chunk.to - chunk.from} bytes are no longer kept`);
    reached(endOf(chunk));
  }
  return ending ?? { kind: isOver(watch.session) ? "exited" : "host_gone" };
}

/** The modes that what comes before `since` has set: without them a full-screen program would paint over the shell. */
async function recall(source: LogFiles, screen: Screen, since: number): Promise<void> {
  const from = Math.max(source.first(), since - MODES_BYTES);
  // Outside of the log: following it will say so.
  if (since <= from || since > source.tail()) return;
  for await (const chunk of readRange(source, from, { to: since, limit: CHUNK_BYTES }))
    if (chunk.kind === "bytes") screen.skip(chunk.bytes);
  await screen.recall();
}

/** Keys go to the session, sizes too, and the lease is kept. */
function typeInto(seat: Seat, detach: () => void): Disposable {
  using stack = new DisposableStack();
  const chords = stack.use(
    new KeyChords(
      {
        keys: (bytes) => seat.type(bytes),
        chord: (chord) => (chord === "detach" ? detach() : seat.take(currentSize)),
      },
      systemClock,
    ),
  );
  const onData = (bytes: Buffer) => chords.push(bytes);
  process.stdin.on("data", onData);
  process.stdin.resume();
  stack.defer(() => void process.stdin.off("data", onData));
  const renewal = setInterval(() => seat.renew(), RENEW_MS);
  stack.defer(() => clearInterval(renewal));
  stack.use(onResize((size) => seat.resize(size)));
  seat.resize(currentSize());
  return stack.move();
}

/** Says so when somebody else has taken control. */
function watchControl({ watch, seat, screen }: Omit<Conversation, "source">): Disposable {
  const watching = new AbortController();
  const { signal } = watching;
  const look = async () => {
    while (!signal.aborted && !watch.isClosed) {
      const holder = seat.lostTo(watch.session);
      if (holder !== undefined)
        screen.notice(`${printable(holder)} has taken control; Ctrl-\\ t takes it back`);
      await watch.changed({ signal });
    }
  };
  void look().catch(seat.onError);
  return { [Symbol.dispose]: () => watching.abort() };
}

/** The window was closed, or we are asked to end: the session goes on without us. */
function onLeaving(leave: (why: Ending) => void): Disposable {
  const signals = ["SIGHUP", "SIGTERM", "SIGINT", "SIGQUIT"] as const;
  const onSignal = (signal: NodeJS.Signals) => leave({ kind: "signalled", signal });
  const onGone = () => leave({ kind: "signalled", signal: "SIGHUP" });
  for (const signal of signals) process.on(signal, onSignal);
  process.stdin.on("end", onGone);
  // Stays: a terminal that has gone may say so more than once.
  process.stdin.on("error", onGone);
  return {
    [Symbol.dispose]: () => {
      for (const signal of signals) process.off(signal, onSignal);
      process.stdin.off("end", onGone);
    },
  };
}

function isOver({ state }: Session): boolean {
  return state.kind === "exited" || state.kind === "lost";
}

function report(ending: Ending, session: Session, screen: Screen): number {
  switch (ending.kind) {
    case "exited":
      return reportExit(session, screen);
    case "failed":
      throw ending.error;
    case "host_gone":
      screen.notice(hostGone(session.session_id).message);
      return exitCodeOf(hostGone(session.session_id));
    case "detached":
    case "signalled":
      screen.notice(`detached; reins attach ${session.session_id} brings you back`);
      return ending.kind === "signalled" ? 128 + constants.signals[ending.signal] : 0;
  }
}

function reportExit({ session_id, state }: Session, screen: Screen): number {
  if (state.kind === "lost") {
    screen.notice("lost: the host that ran it has died");
    return exitCodeOf(hostGone(session_id));
  }
  if (state.kind !== "exited") return 1;
  if (state.reason !== "exited") screen.notice(`closed: ${state.reason}`);
  return state.exit_code ?? 1;
}
