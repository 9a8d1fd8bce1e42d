import type { Caller } from "#app/caller.ts";
import { openSeat, type Seat } from "#app/live/seat.ts";
import { isLive } from "#contract/ended.ts";
import { asFault, Fault } from "#contract/fault.ts";
import { parseRequest } from "#contract/parse.ts";
import type { Session } from "#contract/session.ts";
import type { Shell } from "#contract/shell.ts";
import { onMessages, parseFrame } from "#http/socket/messages.ts";
import { closeCodes, Outbox } from "#http/socket/outbox.ts";
import { OutputFrames } from "#http/socket/output-frames.ts";
import { OutputPump, type PumpTarget } from "#http/socket/output-pump.ts";
import { renewRegularly } from "#http/socket/renewal.ts";
import type { Handshaken, OpenSocket, SocketDeps } from "#http/socket/socket-plan.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { execdMessage } from "./execd-faults.ts";
import {
  createEncoding,
  ExecdClientFrame,
  type ExecdServerFrame,
  frameCode,
} from "./execd-frames.ts";

/** How that API tells that nobody knows. */
const UNKNOWN_EXIT_CODE = -1;

interface Taking {
  readonly caller: Caller;
  readonly session: Session;
  readonly takeover: boolean;
}

/** Undefined at what has ended: there is nothing to steer. */
export async function takeSeat(
  { gateway }: SocketDeps,
  { caller, session, takeover }: Taking,
): Promise<Seat | undefined> {
  if (!isLive(session)) return undefined;
  const host = gateway.hosts.of(session.session_id);
  try {
    const request = { role: "controller", takeover } as const;
    return await openSeat({ host, caller, audit: gateway.audit }, session, request);
  } catch (error) {
    if (asFault(error).code === "already_exited") return undefined;
    throw error;
  }
}

export interface Attaching extends Handshaken {
  readonly caller: Caller;
  readonly handle: SessionHandle;
  readonly shell: Shell;
  readonly since: number;
  /** Where history ends and what is live begins; `since` where no history is shown. */
  readonly replayEnd: number;
  readonly isReplay: boolean;
  readonly takeover: boolean;
  /** Absent with a takeover, and at what has ended. */
  readonly seat: Seat | undefined;
  readonly owned: DisposableStack;
}

/** One client at the interactive shell; owns what the plan held. */
export class ExecdSocket implements OpenSocket {
  readonly #deps: SocketDeps;
  readonly #attaching: Attaching;
  readonly #outbox: Outbox;
  readonly #owned: DisposableStack;
  readonly #seated = Promise.withResolvers<Seat | undefined>();
  #seat: Seat | undefined;
  #pump: OutputPump | undefined;
  #isGreeted = false;

  constructor(deps: SocketDeps, attaching: Attaching) {
    this.#deps = deps;
    this.#attaching = attaching;
    this.#owned = attaching.owned;
    const { socket } = attaching;
    this.#outbox = new Outbox(socket, deps.outbox);
    onMessages(attaching, this.#outbox, (bytes, isBinary) => this.#onMessage(bytes, isBinary));
    socket.on("close", () => this.#onClose());
  }

  async start(): Promise<void> {
    const { handle, since, replayEnd, isReplay, takeover, caller } = this.#attaching;
    const { session } = handle;
    const seat = takeover
      ? await takeSeat(this.#deps, { caller, session, takeover })
      : this.#attaching.seat;
    if (!this.#outbox.isOpen) {
      // It has left while we asked.
      await seat?.[Symbol.asyncDispose]();
      return;
    }
    if (takeover) this.#owned.defer(() => void seat?.[Symbol.asyncDispose]());
    this.#seat = seat;
    this.#seated.resolve(seat);
    this.#owned.use(handle.on(() => this.#onSession(handle.session)));
    if (seat !== undefined)
      this.#owned.use(renewRegularly(this.#deps.outbox.clock, () => seat.renew()));
    if (isReplay && since === replayEnd) this.#say({ type: "replay", offset: since, data: "" });
    this.#follow(since);
    this.#onSession(handle.session);
  }

  fail(error: unknown): void {
    const fault = asFault(error);
    if (fault.code === "internal") this.#deps.onError(error);
    this.#say({ type: "error", error: execdMessage(fault), code: "RUNTIME_ERROR" });
    this.#outbox.close(closeCodes.restarting, fault.code);
  }

  /** The gateway ends; the shell goes on and the client comes back with its offset. */
  stop(reason: string): void {
    this.#outbox.close(closeCodes.restarting, reason);
  }

  expel(code: number, reason: string): void {
    this.#outbox.close(code, reason);
  }

  terminate(): void {
    this.#attaching.socket.terminate();
  }

  #follow(since: number): void {
    const { handle, replayEnd } = this.#attaching;
    const frames = new OutputFrames(handle, createEncoding(replayEnd));
    const pump = new OutputPump(
      { handle, frames, outbox: this.#greetingOutbox(), since },
      {
        gap: ({ from, to }) => this.#sayGap(from, to),
        // Who steers has asked for it, and there is nobody else here.
        resized: () => undefined,
        ended: (session) => this.#ended(session),
        hostGone: () => this.stop("host_unavailable"),
        failed: (error) => this.fail(error),
      },
    );
    this.#pump = this.#owned.use(pump);
    this.#greet();
    pump.pump();
  }

  /** Says `connected` behind the frame with which the history ends. */
  #greetingOutbox(): PumpTarget["outbox"] {
    const outbox = this.#outbox;
    return {
      get isFull() {
        return outbox.isFull;
      },
      get isOpen() {
        return outbox.isOpen;
      },
      drained: outbox.drained,
      send: (data, options) => {
        outbox.send(data, options);
        this.#greet();
      },
    };
  }

  #greet(): void {
    const { replayEnd, shell, handle } = this.#attaching;
    if (this.#isGreeted || (this.#pump?.cursor ?? 0) < replayEnd) return;
    this.#isGreeted = true;
    this.#say({ type: "connected", session_id: shell.shell_id, mode: handle.session.mode });
  }

  #sayGap(from: number, to: number): void {
    this.#say({
      type: "error",
      error: `the bytes from ${from} to ${to} are no longer kept`,
      code: "GAP",
    });
    this.#greet();
  }

  #ended({ state }: Session): void {
    const exit_code = state.kind === "exited" ? state.exit_code : null;
    if (exit_code === null)
      this.#say({
        type: "error",
        error: "it is not known how the shell ended",
        code: "RUNTIME_ERROR",
      });
    this.#say({ type: "exit", exit_code: exit_code ?? UNKNOWN_EXIT_CODE });
    this.#outbox.close(closeCodes.done, "process exited");
  }

  #onSession(session: Session): void {
    if (this.#seat?.isTaken(session) === true)
      this.#outbox.close(closeCodes.taken_over, "TAKEN_OVER");
  }

  async #onMessage(bytes: Buffer, isBinary: boolean): Promise<void> {
    this.#outbox.sign();
    let type: ExecdClientFrame["type"] | undefined;
    try {
      if (isBinary) throw new Fault("invalid_request", "frames are JSON text here, not binary");
      const frame = parseRequest(ExecdClientFrame, parseFrame(bytes));
      type = frame.type;
      if (frame.type === "ping") this.#say({ type: "pong" });
      // In order: whoever waits here goes on in the order in which it came.
      else await this.#serve(frame, await this.#seated.promise);
    } catch (error) {
      const fault = asFault(error);
      if (fault.code === "internal") this.#deps.onError(error);
      this.#say({ type: "error", error: execdMessage(fault), code: frameCode(fault, type) });
    }
  }

  async #serve(
    frame: Exclude<ExecdClientFrame, { readonly type: "ping" }>,
    seat: Seat | undefined,
  ): Promise<void> {
    if (seat === undefined) throw new Fault("already_exited", "the shell has ended");
    switch (frame.type) {
      case "stdin":
        return await seat.type(Buffer.from(frame.data, "utf8"), undefined);
      case "resize":
        // Clients send their size whatever the mode is; pipes have none.
        if (this.#attaching.handle.session.mode !== "pty") return;
        return await seat.resize(frame.cols, frame.rows);
      case "signal":
        return await seat.signal(frame.signal);
    }
  }

  #say(frame: ExecdServerFrame): void {
    this.#outbox.sendJson(frame);
  }

  #onClose(): void {
    this.#owned.dispose();
  }
}
