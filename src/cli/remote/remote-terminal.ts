import type { RemotePlace } from "#cli/place/place.ts";
import { printable } from "#cli/printable.ts";
import { type Ending, isExpected, onLeaving, reportEnding } from "#cli/terminal/ending.ts";
import { DETACH_HINT } from "#cli/terminal/key-chords.ts";
import { typeInto } from "#cli/terminal/keyboard.ts";
import { currentSize, openRawMode } from "#cli/terminal/raw-mode.ts";
import { Screen } from "#cli/terminal/screen.ts";
import type { AttachEvent } from "#client/attach/frames.ts";
import { asFault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import { RemoteSeat, type RemoteSeatRequest } from "./remote-seat.ts";

export interface RemoteTerminal extends RemoteSeatRequest {
  readonly isNew: boolean;
}

/** This terminal becomes one of a server's until it ends or somebody detaches; the exit code is the session's. */
export async function attachRemoteTerminal(
  place: RemotePlace,
  session: Session,
  wanted: RemoteTerminal,
): Promise<number> {
  const claim = await claimControl(place, session, wanted);
  await using seat = new RemoteSeat({ place }, session, { ...wanted, role: claim.role });
  const events = seat.events();
  const { session_id } = session;
  const historyEnd = wanted.isNew ? 0 : await findHistoryEnd(events);
  const screen = new Screen({ historyEnd });
  screen.notice(wanted.isNew ? DETACH_HINT : `attached to ${session_id}; ${DETACH_HINT}`);
  if (claim.why !== undefined) screen.notice(claim.why);
  const ending = await converse(seat, screen, events);
  const back = `reins attach ${session_id} --remote ${place.address}`;
  return reportEnding(ending, { session_id, back }, screen);
}

interface ClaimResult {
  readonly role: "viewer" | "controller";
  /** Why we only watch, if that is not what was wanted. */
  readonly why?: string;
}

/**
 * A handshake that is refused says nothing of the reason, so it is asked for by what comes first anyway: the size. And
 * a screen of our size can be painted here as it is.
 */
async function claimControl(
  place: RemotePlace,
  { session_id, controller }: Session,
  { role, takeover, isNew }: RemoteTerminal,
): Promise<ClaimResult> {
  if (role === "viewer" || isNew) return { role };
  try {
    await place.call("session.resize", { session_id, ...currentSize() });
    return { role };
  } catch (error) {
    const { code, message } = asFault(error);
    if (code === "already_exited") return { role: "viewer" };
    if (code === "forbidden") return { role: "viewer", why: `you watch: ${printable(message)}` };
    if (code !== "not_controller") throw error;
    if (takeover) return { role };
    const holder = printable(controller?.holder ?? "somebody");
    return { role: "viewer", why: `${holder} types here, you watch; Ctrl-\\ t takes over` };
  }
}

/** Up to there it had been printed before we came. */
async function findHistoryEnd(events: AsyncIterator<AttachEvent, void>): Promise<number> {
  for (;;) {
    const next = await events.next();
    if (next.done === true) return 0;
    if (next.value.type === "failed") throw next.value.fault;
    if (next.value.type === "connected") return next.value.tail;
  }
}

async function converse(
  seat: RemoteSeat,
  screen: Screen,
  events: AsyncIterable<AttachEvent>,
): Promise<Ending> {
  let ending: Ending | undefined;
  const leave = (why: Ending) => {
    ending ??= why;
    void seat.leave();
  };
  using stack = new DisposableStack();
  stack.use(openRawMode(() => screen.undo()));
  stack.use(onLeaving(leave));
  stack.use(typeInto(seat, () => leave({ kind: "detached" })));
  const listener = new Listener(seat, screen);
  for await (const event of events) {
    ending ??= await listener.hear(event);
    if (ending !== undefined) break;
  }
  return ending ?? { kind: "detached" };
}

/** What the server says, as whoever sits here sees it. */
class Listener {
  readonly #seat: RemoteSeat;
  readonly #screen: Screen;
  #holder = "somebody";

  constructor(seat: RemoteSeat, screen: Screen) {
    this.#seat = seat;
    this.#screen = screen;
  }

  /** Answers how it ends, when it does. */
  async hear(event: AttachEvent): Promise<Ending | undefined> {
    switch (event.type) {
      case "output":
        await this.#screen.write(event.offset, event.bytes);
        return undefined;
      case "screen":
        await this.#screen.paint(event.state, currentSize().rows);
        return undefined;
      case "exit":
        if (event.reason === "host_lost") return { kind: "lost" };
        return {
          kind: "exited",
          exit_code: event.exit_code,
          signal: event.signal,
          reason: event.reason,
        };
      case "failed":
        return { kind: "failed", error: event.fault };
      default:
        this.#note(event);
        return undefined;
    }
  }

  #note(event: AttachEvent): void {
    const screen = this.#screen;
    if (event.type === "gap") screen.notice(`${event.to - event.from} bytes are no longer kept`);
    if (event.type === "connected") this.#seat.resize(currentSize());
    if (event.type === "control") this.#holder = event.holder ?? this.#holder;
    if (event.type === "taken_over")
      screen.notice(`${printable(this.#holder)} has taken control; Ctrl-\\ t takes it back`);
    if (event.type === "lost")
      screen.notice(`the server is away; it is tried again, ${DETACH_HINT}`);
    if (event.type === "restored") {
      screen.notice("the server is back");
      if (screen.isAlternate) this.#seat.repaint();
    }
    if (event.type === "error" && !isExpected(event.fault))
      screen.notice(printable(event.fault.message));
  }
}
