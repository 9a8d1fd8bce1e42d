import type { Who } from "#app/caller.ts";
import type { Clock } from "#base/clock.ts";
import { asFault, Fault } from "#contract/fault.ts";
import type { ClientFrame, ServerFrame } from "#contract/frames.ts";
import type { Session } from "#contract/session.ts";
import { closeCodes } from "#contract/terminal/close-codes.ts";
import type { AttachmentInput, NumberedInput } from "#contract/terminal/input-frame.ts";
import { defined } from "#contract/values/defined.ts";
import type { Screens } from "#screen/screens.ts";
import type { SessionHandle } from "#session/session-host.ts";
import type { AttachedControl } from "./attached-control.ts";
import { InputSequence } from "./input-sequence.ts";
import { type FrameEncoding, framesOf } from "./output-frames.ts";
import { type OutputOutbox, OutputPump, type PumpTarget } from "./output-pump.ts";
import { findPainted, type KnownSize } from "./painted-size.ts";
import { renewRegularly } from "./renewal.ts";

/** A client that lost its host tries again after this time: the next request starts a host. */
const HOST_RETRY_MS = 500;

/** The client's end of an attachment: a socket, a part of one, or another part of this process. */
export interface AttachmentPeer {
  /** How output is encoded. */
  readonly encoding: FrameEncoding;
  /** Where output goes. */
  readonly outbox: OutputOutbox;
  /** All other frames. */
  say(frame: ServerFrame): void;
  /** With a code of `closeCodes`. Control that was lost is a reason as well; a peer that stays then watches. */
  close(code: number, reason: string): void;
  /** The code and the sentence for the client. */
  describe(error: unknown): Pick<Fault, "code" | "message">;
}

export interface AttachmentOptions {
  readonly caller: Who;
  /** Owned by the attachment. */
  readonly handle: SessionHandle;
  readonly since: number;
  /** Sends the screen first, and output from there on. */
  readonly paint?: Pick<Screens, "state"> | undefined;
  readonly clock: Clock;
  readonly until?: PumpTarget["until"];
  /** Attaches at the host; undefined for a client that only reads and is not counted. */
  open(): Promise<AttachedControl | undefined>;
}

/**
 * One client at one session: the wire's frames in, the wire's frames out.
 *
 *   connected · [screen] · output, gap, resized, control … · exit        close 1000
 *   ack or error for each request, in any order with the above
 *   closing                                                              close 1012, the host has gone
 *   control by another client                                            close 4001
 *
 * It owns the cursor, the control, the order of inputs and their renewal. Transports only encode and decode.
 */
export class Attachment implements Disposable {
  readonly #options: AttachmentOptions;
  readonly #peer: AttachmentPeer;
  readonly #owned = new DisposableStack();
  readonly #ready = Promise.withResolvers<AttachedControl | undefined>();
  readonly #sequence = new InputSequence();
  #control: AttachedControl | undefined;
  #pump: OutputPump | undefined;
  #controller: Session["controller"] = null;
  #hasEnded = false;
  /** Another client has taken control, and the peer has not been closed for it. */
  #isTaken = false;
  #underWay = 0;

  constructor(options: AttachmentOptions, peer: AttachmentPeer) {
    this.#options = options;
    this.#peer = peer;
    this.#owned.use(options.handle);
  }

  get session(): Session {
    return this.#options.handle.session;
  }

  /** Behind the last byte that was sent. */
  get cursor(): number {
    return this.#pump?.cursor ?? this.#options.since;
  }

  /** Says `connected`, then follows the output. Never rejects: a failure is sent as `error` and closes. */
  async start(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The session numbers the inputs of this attachment; known when `connected` has been sent. */
  get isNumbered(): boolean {
    return this.#control?.applied !== undefined;
  }

  /** A request that is answered by `ack`, `pong` or `error`. */
  async receive(frame: ClientFrame): Promise<void> {
    const id = frame.id === undefined ? {} : { id: frame.id };
    await this.#answer(id, async () => {
      await this.serve(frame);
      if (frame.type === "ping") this.#peer.say({ type: "pong", ...id });
      else if (frame.id !== undefined) this.#peer.say({ type: "ack", id: frame.id });
    });
  }

  /** A numbered input, which is answered by `ack` or `error`. A missing number closes. */
  async type({ id, sequence, bytes }: NumberedInput): Promise<void> {
    await this.#answer({ id, sequence }, async () => {
      try {
        this.#sequence.take(sequence);
      } catch (error) {
        this.refuse(error, { id, sequence });
        this.#peer.close(closeCodes.protocol_error, this.#peer.describe(error).message);
        return;
      }
      try {
        await this.write(bytes, idOf(id));
      } catch (error) {
        this.#sequence.refused(sequence);
        throw error;
      }
      this.#peer.say({ type: "ack", id, sequence });
    });
  }

  /** An input that the session numbers, which is answered by `ack` or `error`. */
  async typeNumbered({ id, sequence, bytes, eof }: AttachmentInput): Promise<void> {
    await this.#answer({ id, sequence }, async () => {
      const control = this.#control ?? (await this.#getControl());
      const mark = { inputId: idOf(id), number: sequence };
      try {
        await (eof ? control.eof(mark) : control.type(bytes, mark));
      } catch (error) {
        if (asFault(error).code !== "host_unavailable") throw error;
        // It may have been applied. The client sends it again on the next connection, under its number.
        this.#onHostGone();
        return;
      }
      this.#peer.say({ type: "ack", id, sequence });
    });
  }

  /** An input without an answer; throws what is refused. */
  async write(bytes: Uint8Array, id: string | undefined): Promise<void> {
    await (this.#control ?? (await this.#getControl())).type(bytes, { inputId: id });
  }

  /** Does what a frame asks for; throws what is refused. */
  async serve(frame: ClientFrame): Promise<void> {
    if (frame.type === "ping") return;
    const control = this.#control ?? (await this.#getControl());
    switch (frame.type) {
      case "stdin":
        return await control.type(Buffer.from(frame.data, frame.encoding ?? "utf8"), {
          inputId: frame.id,
        });
      case "eof":
        return await control.eof({ inputId: frame.id });
      case "resize":
        return await control.resize(frame.cols, frame.rows);
      case "signal":
        return await control.signal(frame.signal);
      case "control":
        checkOperator(this.#options.caller);
        return await (frame.action === "take" ? control.take() : control.release());
      case "close":
        checkOperator(this.#options.caller);
        return await control.close(frame.reason);
    }
  }

  /** Tells the client what is wrong with a request. */
  refuse(
    error: unknown,
    about: { readonly id?: string | undefined; readonly sequence?: number } = {},
  ): void {
    const { code, message } = this.#peer.describe(error);
    const { id, ...rest } = about;
    const named = id === undefined ? rest : { id, ...rest };
    this.#peer.say({
      type: "error",
      ...named,
      ...defined({ expected: expectedOf(error) }),
      code,
      message,
    });
  }

  /** Detaches; the session goes on. */
  [Symbol.dispose](): void {
    if (this.#owned.disposed) return;
    this.#owned.dispose();
    void this.#control?.[Symbol.asyncDispose]();
  }

  async #start(): Promise<void> {
    const { handle, since, clock, paint } = this.#options;
    const control = await this.#options.open();
    this.#control = control;
    if (this.#owned.disposed || !this.#peer.outbox.isOpen) {
      // The client left while the host was asked.
      await control?.[Symbol.asyncDispose]();
      return;
    }
    const { session } = handle;
    this.#controller = session.controller;
    this.#ready.resolve(control);
    const resize = handle.sizes.at(since, handle.eventsTail);
    const { cols, rows } = resize ?? session;
    this.#sayConnected({ cols, rows });
    this.#owned.use(handle.on(() => this.#onSession(handle.session)));
    if (control !== undefined) this.#owned.use(renewRegularly(clock, () => control.renew()));
    const known = { cols, rows, serial: resize?.serial ?? 0 };
    const from = paint === undefined ? { since } : await this.#paint(paint, known);
    if (this.#owned.disposed || !this.#peer.outbox.isOpen) return;
    this.#follow(from);
    this.#onSession(handle.session);
  }

  #sayConnected(size: Pick<Session, "cols" | "rows">): void {
    const { handle, since } = this.#options;
    const { session_id, kind, mode, state } = handle.session;
    this.#peer.say({
      ...{ type: "connected", session_id, kind, mode },
      role: this.#control?.role ?? "viewer",
      generation: this.#control?.generation ?? null,
      offset: since,
      tail: handle.tail,
      ...size,
      state,
      ...defined({ applied: this.#control?.applied }),
    });
  }

  #follow(from: Pick<PumpTarget, "since" | "toldSize">): void {
    const { handle, until } = this.#options;
    const { outbox, encoding } = this.#peer;
    this.#pump = this.#owned.use(
      new OutputPump(
        { handle, frames: framesOf(handle, encoding), outbox, until, ...from },
        {
          gap: (range) => this.#peer.say({ type: "gap", ...range }),
          resized: (size) => this.#peer.say({ type: "resized", ...size }),
          ended: (session, tail) => this.#end(session, tail),
          hostGone: () => this.#onHostGone(),
          failed: (error) => this.#fail(error),
        },
      ),
    );
    this.#pump.pump();
  }

  /** The screen instead of history, at the size that it has by now. Answers where output continues. */
  async #paint(
    screens: Pick<Screens, "state">,
    known: KnownSize,
  ): Promise<Pick<PumpTarget, "since" | "toldSize">> {
    const { handle, since } = this.#options;
    try {
      const { state, offset, cols, rows } = await screens.state(handle);
      if (cols !== known.cols || rows !== known.rows)
        this.#peer.say({ type: "resized", cols, rows });
      this.#peer.say({ type: "screen", state, offset });
      return { since: offset, toldSize: findPainted(handle, { cols, rows, offset }, known) };
    } catch (error) {
      this.refuse(error);
      return { since };
    }
  }

  #end({ state }: Session, tail: number): void {
    const exited = state.kind === "exited" ? state : { ...UNKNOWN_EXIT, tail };
    const { exit_code, signal, reason } = exited;
    this.#peer.say({ type: "exit", exit_code, signal, reason, tail: exited.tail });
    this.#hasEnded = true;
    this.#leave();
  }

  /** Requests under way are answered first: the end may be what the client wanted, and no key's fate stays unknown. */
  #leave(): void {
    if (this.#underWay > 0) return;
    if (this.#hasEnded) this.#peer.close(closeCodes.done, "the session has ended");
    else if (this.#isTaken)
      this.#peer.close(closeCodes.taken_over, "another client has taken control");
    this.#isTaken = false;
  }

  #onHostGone(): void {
    const reason = "host_unavailable";
    this.#peer.say({ type: "closing", reason, retry_after_ms: HOST_RETRY_MS });
    this.#peer.close(closeCodes.restarting, reason);
  }

  #onSession({ controller }: Session): void {
    const before = this.#controller;
    if (controller?.generation !== before?.generation || controller?.holder !== before?.holder) {
      const generation = controller?.generation ?? before?.generation ?? 0;
      this.#controller = controller;
      this.#peer.say({ type: "control", holder: controller?.holder ?? null, generation });
    }
    if (this.#control?.isTaken(this.session) !== true) return;
    this.#isTaken = true;
    this.#leave();
  }

  async #answer(
    about: { readonly id?: string; readonly sequence?: number },
    work: () => Promise<void>,
  ): Promise<void> {
    // Nothing can be done any more, and the end does not wait for a client that goes on asking.
    if (this.#hasEnded || !this.#peer.outbox.isOpen) return;
    this.#underWay += 1;
    try {
      await work();
    } catch (error) {
      this.refuse(error, about);
    }
    this.#underWay -= 1;
    this.#leave();
  }

  async #getControl(): Promise<AttachedControl> {
    // In order: requests that wait here continue in the order in which they came.
    const control = await this.#ready.promise;
    if (control !== undefined) return control;
    throw new Fault("already_exited", "the session has ended");
  }

  #fail(error: unknown): void {
    const { code, message } = this.#peer.describe(error);
    this.#peer.say({ type: "error", code, message });
    this.#peer.close(closeCodes[endings[code] ?? "too_slow"], code);
  }
}

/** How a client is closed that was refused at the beginning, unless it is `too_slow`. */
const endings: Readonly<Record<string, keyof typeof closeCodes>> = {
  host_unavailable: "restarting",
  shutting_down: "restarting",
  not_controller: "taken_over",
};

function idOf(id: string): string | undefined {
  return id === "" ? undefined : id;
}

function expectedOf(error: unknown): number | undefined {
  const { code, details } = asFault(error);
  return code === "input_out_of_order" ? Number(details?.expected) : undefined;
}

const UNKNOWN_EXIT = { exit_code: null, signal: null, reason: "host_lost" } as const;

/** Without the schema of roles: the CLI attaches with this file, and does not load zod. */
function checkOperator({ role }: Who): void {
  if (role !== "viewer") return;
  throw new Fault("forbidden", `this needs the role operator; your token has ${role}`);
}
