import { type AttachedControl, openControl } from "#app/attach/attached-control.ts";
import { Attachment, type AttachmentPeer } from "#app/attach/attachment.ts";
import type { OutputOutbox } from "#app/attach/output-pump.ts";
import type { Who } from "#app/caller.ts";
import { isLive } from "#contract/ended.ts";
import { asFault, Fault } from "#contract/fault.ts";
import type { ServerFrame } from "#contract/frames.ts";
import { parseRequest } from "#contract/parse.ts";
import type { Session } from "#contract/session.ts";
import type { Shell } from "#contract/shell.ts";
import { closeCodes } from "#contract/terminal/close-codes.ts";
import { onMessages, parseFrame } from "#http/socket/messages.ts";
import { Outbox } from "#http/socket/outbox.ts";
import type { Handshaken, OpenSocket, SocketDeps } from "#http/socket/socket-plan.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { execdMessage } from "./execd-faults.ts";
import {
  createEncoding,
  ExecdClientFrame,
  type ExecdServerFrame,
  frameCode,
} from "./execd-frames.ts";

/** How that API says that the exit code is unknown. */
const UNKNOWN_EXIT_CODE = -1;

interface Controlling {
  readonly caller: Who;
  readonly session: Session;
  readonly takeover: boolean;
}

/** Undefined for a session that has ended: nothing can be typed there. */
export async function openController(
  { gateway }: SocketDeps,
  { caller, session, takeover }: Controlling,
): Promise<AttachedControl | undefined> {
  if (!isLive(session)) return undefined;
  const host = gateway.hosts.of(session.session_id);
  try {
    const request = { role: "controller", takeover } as const;
    return await openControl({ host, caller, audit: gateway.audit }, session, request);
  } catch (error) {
    if (asFault(error).code === "already_exited") return undefined;
    throw error;
  }
}

interface Attaching extends Handshaken {
  readonly caller: Who;
  readonly handle: SessionHandle;
  readonly shell: Shell;
  readonly since: number;
  /** Where history ends and live output begins; `since` where no history is shown. */
  readonly replayEnd: number;
  readonly isReplay: boolean;
  readonly takeover: boolean;
  /** Absent with a takeover, and for a session that has ended. */
  readonly controller: AttachedControl | undefined;
}

/** One client at the interactive shell: an attachment in the frames of that API. */
export class ExecdSocket implements OpenSocket {
  readonly #deps: SocketDeps;
  readonly #attaching: Attaching;
  readonly #outbox: Outbox;
  readonly #attachment: Attachment;
  #isGreeted = false;

  constructor(deps: SocketDeps, attaching: Attaching) {
    this.#deps = deps;
    this.#attaching = attaching;
    const { socket, caller, handle, since, takeover } = attaching;
    this.#outbox = new Outbox(socket, deps.outbox);
    const { session } = handle;
    const open = async () =>
      takeover ? await openController(deps, { caller, session, takeover }) : attaching.controller;
    const options = { caller, handle, since, clock: deps.outbox.clock, open };
    this.#attachment = new Attachment(options, this.#createPeer());
    onMessages(attaching, this.#outbox, (bytes, isBinary) => this.#onMessage(bytes, isBinary));
    socket.on("close", () => this.#attachment[Symbol.dispose]());
  }

  start(): void {
    void this.#attachment.start();
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

  #createPeer(): AttachmentPeer {
    return {
      encoding: createEncoding(this.#attaching.replayEnd),
      outbox: this.#greetingOutbox(),
      say: (frame) => this.#translate(frame),
      close: (code, reason) => this.#outbox.close(code, closeReasons[code] ?? reason),
      describe: (error) => this.#describe(error),
    };
  }

  /** Says `connected` behind the frame with which the history ends. */
  #greetingOutbox(): OutputOutbox {
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

  #translate(frame: ServerFrame): void {
    if (frame.type === "connected") {
      const { since, replayEnd, isReplay } = this.#attaching;
      if (isReplay && since === replayEnd) this.#say({ type: "replay", offset: since, data: "" });
      this.#greet();
    }
    if (frame.type === "gap") {
      this.#sayError(`the bytes from ${frame.from} to ${frame.to} are no longer kept`, "GAP");
      this.#greet();
    }
    if (frame.type === "error") this.#sayError(frame.message, "RUNTIME_ERROR");
    if (frame.type !== "exit") return;
    if (frame.exit_code === null)
      this.#sayError("it is not known how the shell ended", "RUNTIME_ERROR");
    this.#say({ type: "exit", exit_code: frame.exit_code ?? UNKNOWN_EXIT_CODE });
  }

  #greet(): void {
    const { replayEnd, shell, handle } = this.#attaching;
    if (this.#isGreeted || this.#attachment.cursor < replayEnd) return;
    this.#isGreeted = true;
    this.#say({ type: "connected", session_id: shell.shell_id, mode: handle.session.mode });
  }

  async #onMessage(bytes: Buffer, isBinary: boolean): Promise<void> {
    this.#outbox.sign();
    let type: ExecdClientFrame["type"] | undefined;
    try {
      if (isBinary) throw new Fault("invalid_request", "frames are JSON text here, not binary");
      const frame = parseRequest(ExecdClientFrame, parseFrame(bytes));
      type = frame.type;
      await this.#serve(frame);
    } catch (error) {
      this.#sayError(this.#describe(error).message, frameCode(asFault(error), type));
    }
  }

  async #serve(frame: ExecdClientFrame): Promise<void> {
    if (frame.type === "ping") this.#say({ type: "pong" });
    // Clients send their size whatever the mode is; pipes have none.
    const isIgnored = frame.type === "resize" && this.#attaching.handle.session.mode !== "pty";
    if (!isIgnored) await this.#attachment.serve(frame);
  }

  #describe(error: unknown): Pick<Fault, "code" | "message"> {
    const fault = asFault(error);
    if (fault.code === "internal") this.#deps.onError(error);
    return { code: fault.code, message: execdMessage(fault) };
  }

  #sayError(error: string, code: string): void {
    this.#say({ type: "error", error, code });
  }

  #say(frame: ExecdServerFrame): void {
    this.#outbox.sendJson(frame);
  }
}

/** In the words of that API. */
const closeReasons: Readonly<Record<number, string>> = {
  [closeCodes.done]: "process exited",
  [closeCodes.taken_over]: "TAKEN_OVER",
};
