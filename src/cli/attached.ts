import { followOutput, openOutput } from "#app/follow-output.ts";
import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { Watch } from "#host/socket/watch.ts";
import { type Local, viewerName } from "./context.ts";
import { exitCodeOf } from "./exit.ts";
import { DETACH_HINT, KeyChords } from "./key-chords.ts";
import { ModeTracker } from "./mode-tracker.ts";
import { writeTo } from "./output-writer.ts";
import { printable } from "./printable.ts";
import { QueryFilter } from "./query-filter.ts";
import { currentSize, onResize, openRawMode } from "./terminal-mode.ts";

export interface AttachOptions {
  readonly role: "viewer" | "controller";
  readonly takeover: boolean;
  /** Undefined: the last part of what was printed. */
  readonly since: number | undefined;
  readonly isNew: boolean;
}

type Ending = "exited" | "detached" | "host_gone";

/** How much of the past somebody sees who comes back. */
const HISTORY_BYTES = 256 * 1024;
const RENEW_MS = 10_000;

/** This terminal becomes the session's until it ends or somebody detaches; the exit code is the session's. */
export async function attachTerminal(
  local: Local,
  session: Session,
  options: AttachOptions,
): Promise<number> {
  using watch = await local.host.watch(session.session_id);
  const seat = await takeSeat(local, session, options);
  notice(options.isNew ? DETACH_HINT : `attached to ${session.session_id}; ${DETACH_HINT}`);
  if (seat.generation === undefined && options.role === "controller") {
    notice(
      `${printable(watch.session.controller?.holder ?? "somebody")} types here, you watch; Ctrl-\\ t takes over`,
    );
  }
  const ending = await converse({ local, watch, seat, options });
  return report(ending, watch.session);
}

interface Seat {
  readonly attachment: number;
  generation: number | undefined;
}

/** Control if it is free or asked for by force, else a seat among the viewers. */
async function takeSeat(
  local: Local,
  { session_id }: Session,
  options: AttachOptions,
): Promise<Seat> {
  const attach = async (role: "viewer" | "controller"): Promise<Seat> => {
    const { attachment, generation } = await local.host.call("session.attach", {
      session_id,
      viewer: viewerName(),
      role,
      takeover: options.takeover,
    });
    return { attachment, generation: generation ?? undefined };
  };
  try {
    return await attach(options.role);
  } catch (error) {
    const isRefused =
      error instanceof Fault && ["not_controller", "already_exited"].includes(error.code);
    if (!isRefused) throw error;
    return await attach("viewer");
  }
}

interface Conversation {
  readonly local: Local;
  readonly watch: Watch;
  readonly seat: Seat;
  readonly options: AttachOptions;
}

async function converse({ local, watch, seat, options }: Conversation): Promise<Ending> {
  const { session_id } = watch.session;
  using source = openOutput(local.dir.sessions, session_id);
  const left = new AbortController();
  const modes = new ModeTracker();
  using stack = new DisposableStack();
  stack.use(openRawMode(() => modes.reset()));
  stack.use(onLeaving(() => left.abort()));
  stack.use(typeInto({ local, watch, seat, options }, () => left.abort()));
  const historyEnd = watch.tail;
  const since = options.since ?? Math.max(source.first(), historyEnd - HISTORY_BYTES);
  const screen = openScreen({
    modes,
    historyEnd: options.isNew ? 0 : historyEnd,
    caughtUp: () => void nudge(local, session_id),
  });
  for await (const chunk of followOutput(source, watch, {
    since,
    until: "exit",
    signal: left.signal,
  })) {
    if (chunk.kind === "bytes") await screen(chunk.offset, chunk.bytes);
  }
  if (left.signal.aborted) return "detached";
  return watch.isClosed ? "host_gone" : "exited";
}

interface ScreenDeps {
  readonly modes: ModeTracker;
  readonly historyEnd: number;
  /** All history is shown and a full-screen program is on: it should paint itself anew for who saw only a part. */
  readonly caughtUp: () => void;
}

/** Writes to this terminal: history without its questions, the rest as it is. */
function openScreen({ modes, historyEnd, caughtUp }: ScreenDeps) {
  const filter = new QueryFilter();
  return async (offset: number, bytes: Uint8Array): Promise<void> => {
    const isHistory = offset < historyEnd;
    modes.push(bytes);
    await writeTo(process.stdout, isHistory ? filter.push(bytes) : bytes);
    if (isHistory && offset + bytes.length >= historyEnd && modes.isAlternate) caughtUp();
  };
}

/** Keys go to the session, sizes too while we hold control, and the lease is kept. */
function typeInto({ local, watch, seat }: Conversation, detach: () => void): Disposable {
  const { session_id } = watch.session;
  const { host } = local;
  const send = (work: Promise<unknown>) => void work.catch(ignoreLostControl);
  const resize = () => {
    if (seat.generation !== undefined) {
      send(
        host.call("session.resize", { session_id, ...currentSize(), generation: seat.generation }),
      );
    }
  };
  const take = async () => {
    const { generation } = await host.call("session.take", {
      attachment: seat.attachment,
      takeover: true,
    });
    seat.generation = generation;
    resize();
  };
  const chords = new KeyChords({
    keys: (bytes) => {
      if (seat.generation === undefined) return;
      const data_b64 = bytes.toString("base64");
      send(host.call("session.input", { session_id, data_b64, generation: seat.generation }));
    },
    chord: (chord) => (chord === "detach" ? detach() : send(take())),
  });
  const onData = (bytes: Buffer) => chords.push(bytes);
  const renewal = setInterval(
    () => send(host.call("session.renew", { attachment: seat.attachment })),
    RENEW_MS,
  );
  const resizing = onResize(resize);
  process.stdin.on("data", onData);
  process.stdin.resume();
  const watching = new AbortController();
  void tellOfTakeover(watch, seat, watching.signal);
  resize();
  return {
    [Symbol.dispose]: () => {
      watching.abort();
      clearInterval(renewal);
      resizing[Symbol.dispose]();
      process.stdin.off("data", onData);
    },
  };
}

/** Says so when somebody else has taken control. */
async function tellOfTakeover(watch: Watch, seat: Seat, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !watch.isClosed) {
    await watch.changed({ signal });
    const { controller } = watch.session;
    const isOurs = controller === null || controller.generation === seat.generation;
    if (seat.generation === undefined || isOurs || controller.generation < seat.generation)
      continue;
    seat.generation = undefined;
    notice(`${printable(controller.holder)} has taken control; Ctrl-\\ t takes it back`);
  }
}

/** The window was closed, or we are asked to end: the session goes on without us. */
function onLeaving(leave: () => void): Disposable {
  const signals = ["SIGHUP", "SIGTERM", "SIGINT"] as const;
  for (const signal of signals) process.on(signal, leave);
  process.stdin.on("end", leave);
  return {
    [Symbol.dispose]: () => {
      for (const signal of signals) process.off(signal, leave);
      process.stdin.off("end", leave);
    },
  };
}

async function nudge(local: Local, session_id: string): Promise<void> {
  try {
    await local.host.call("session.signal", { session_id, signal: "SIGWINCH" });
  } catch {
    // It ended meanwhile; the loop around will say so.
  }
}

function report(ending: Ending, session: Session): number {
  if (ending === "detached") {
    notice(`detached; reins attach ${session.session_id} brings you back`);
    return 0;
  }
  if (ending === "host_gone") {
    notice(`the host has gone away; reins logs ${session.session_id} shows what was printed`);
    return exitCodeOf(new Fault("host_unavailable", ""));
  }
  const { state } = session;
  if (state.kind !== "exited") return 1;
  if (state.reason !== "exited") notice(`closed: ${state.reason}`);
  return state.exit_code ?? 1;
}

function notice(text: string): void {
  process.stderr.write(`\r[reins: ${text}]\r\n`);
}

function ignoreLostControl(error: unknown): void {
  const expected = ["not_controller", "already_exited", "host_unavailable", "queue_full"];
  if (error instanceof Fault && expected.includes(error.code)) return;
  throw error;
}
