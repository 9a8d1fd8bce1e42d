import type { Caller } from "#app/caller.ts";
import type { Seat } from "#app/live/seat.ts";
import { sessionNotFound } from "#app/visible-session.ts";
import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { TerminalServerFrame } from "#contract/terminal-frames.ts";
import { isAtLeast } from "#contract/token.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { type FrameEncoding, framesOf } from "./output-frames.ts";
import { OutputPump } from "./output-pump.ts";
import type { Lane } from "./terminal-lanes.ts";

export interface TerminalPlace {
  readonly handle: SessionHandle;
  readonly seat: Seat;
  readonly caller: Caller;
  readonly lane: Lane;
}

export interface TerminalEvents {
  say(frame: TerminalServerFrame): void;
  /** Its end has been told: there is nothing more to hear of it. */
  over(): void;
  hostGone(): void;
  failed(error: unknown): void;
}

/** One terminal on a socket of many: its output as frames, and what the client does to it. */
export class AttachedTerminal implements AsyncDisposable {
  readonly #place: TerminalPlace;
  readonly #events: TerminalEvents;
  readonly #owned = new DisposableStack();
  readonly #over = Promise.withResolvers<void>();
  #isOver = false;
  #controller: Session["controller"];
  /** What we asked for last: while we hold control nobody else changes it, and the host's word may be under way. */
  #asked: { readonly cols: number; readonly rows: number } | undefined;

  constructor(place: TerminalPlace, events: TerminalEvents) {
    this.#place = place;
    this.#events = events;
    this.#controller = place.handle.session.controller;
    this.#owned.use(place.handle);
    this.#owned.use(place.lane);
  }

  get role(): Seat["role"] {
    return this.#place.seat.role;
  }

  /** From here on its frames come, the first byte at this offset. */
  follow(since: number): void {
    const { handle, lane } = this.#place;
    const { session_id } = handle.session;
    const target = {
      handle,
      frames: framesOf(handle, encodingOf(handle)),
      outbox: lane.outbox,
      since,
    };
    const pump = new OutputPump(target, {
      gap: (range) => this.#say({ type: "terminal.gap", payload: { session_id, ...range } }),
      // Its controller knows, and the others have no frame for it.
      resized: () => undefined,
      ended: (session) => this.#end(session),
      hostGone: () => this.#events.hostGone(),
      failed: (error) => this.#events.failed(error),
    });
    this.#owned.use(pump);
    this.#owned.use(handle.on(() => this.#onSession()));
    this.#onSession();
    pump.pump();
  }

  async type(bytes: Uint8Array, inputId: string | undefined): Promise<void> {
    this.#checkThere();
    await this.#place.seat.type(bytes, inputId);
  }

  /** 0 keeps that side as it is. */
  async resize(cols: number, rows: number): Promise<void> {
    this.#checkThere();
    const { handle, seat } = this.#place;
    const now = this.#asked ?? { cols: handle.session.cols ?? 0, rows: handle.session.rows ?? 0 };
    const asked = { cols: cols || now.cols, rows: rows || now.rows };
    this.#asked = asked;
    try {
      await seat.resize(asked.cols, asked.rows);
    } catch (error) {
      this.#asked = undefined;
      throw error;
    }
  }

  /** Resolves when it has ended and the client has been told all of it. */
  async close(reason: string | undefined): Promise<void> {
    this.#checkThere();
    const { caller, seat } = this.#place;
    if (!isAtLeast(caller.role, "operator"))
      throw new Fault(
        "not_controller",
        `ending it needs the role operator; yours is ${caller.role}`,
      );
    await seat.close(reason);
    await this.#over.promise;
  }

  async renew(): Promise<void> {
    if (!this.#isOver) await this.#place.seat.renew();
  }

  /** Detaches; the session goes on. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#owned.disposed) return;
    this.#isOver = true;
    this.#owned.dispose();
    this.#over.resolve();
    await this.#place.seat[Symbol.asyncDispose]();
  }

  #end({ session_id, state }: Session): void {
    const { exit_code, signal } = state.kind === "exited" ? state : NOTHING_KNOWN;
    const reason = "reason" in state ? state.reason : "host_lost";
    this.#isOver = true;
    this.#say({ type: "terminal.exit", payload: { session_id, exit_code, signal, reason } });
    this.#events.over();
  }

  #onSession(): void {
    if (this.#isOver) return;
    const { handle, seat } = this.#place;
    const { session_id, controller, state } = handle.session;
    // What has ended is controlled by nobody; its exit says so.
    if (state.kind === "exited" || state.kind === "lost") return;
    if (seat.isTaken(handle.session)) this.#asked = undefined;
    const before = this.#controller;
    if (controller?.generation === before?.generation && controller?.holder === before?.holder)
      return;
    this.#controller = controller;
    const generation = controller?.generation ?? before?.generation ?? 0;
    const holder = controller?.holder ?? null;
    this.#say({ type: "terminal.control", payload: { session_id, holder, generation } });
  }

  #checkThere(): void {
    if (this.#isOver) throw sessionNotFound(this.#place.handle.session.session_id);
  }

  #say(frame: TerminalServerFrame): void {
    this.#events.say(frame);
  }
}

const NOTHING_KNOWN = { exit_code: null, signal: null };

const DATA_LIMIT_BYTES = 64 * 1024;
const encodings = new WeakMap<SessionHandle["output"], FrameEncoding>();

/** One for all who watch the session, so that they share its frames. */
function encodingOf({ output, session }: SessionHandle): FrameEncoding {
  const known = encodings.get(output);
  if (known !== undefined) return known;
  const head = `{"type":"terminal.data","payload":{"session_id":"${session.session_id}","offset":`;
  const made: FrameEncoding = {
    binary: false,
    limit: DATA_LIMIT_BYTES,
    header: 0,
    wholeCharacters: false,
    encode: ({ offset }, bytes) =>
      Buffer.from(`${head}${offset},"data_b64":"${bytes.toString("base64")}"}}`, "latin1"),
  };
  encodings.set(output, made);
  return made;
}
