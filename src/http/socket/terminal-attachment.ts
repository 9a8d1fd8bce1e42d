import { Attachment, type AttachmentOptions } from "#app/attach/attachment.ts";
import type { FrameEncoding } from "#app/attach/output-frames.ts";
import { sessionNotFound } from "#app/visible-session.ts";
import { hasEnded } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import type { ServerFrame } from "#contract/frames.ts";
import { closeCodes } from "#contract/terminal/close-codes.ts";
import type { TerminalServerFrame } from "#contract/terminal-frames.ts";
import { isAtLeast } from "#contract/token.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { describeError } from "./terminal-errors.ts";
import type { Lane } from "./terminal-lanes.ts";

type Connected = Extract<ServerFrame, { readonly type: "connected" }>;

export interface TerminalPeer {
  readonly lane: Lane;
  /** The first frame; output follows it. */
  greet(connected: Connected): void;
  say(frame: TerminalServerFrame): void;
  /** The client knows of its end. */
  over(): void;
  hostGone(): void;
  onError(error: unknown): void;
}

/** One terminal on a socket of many: an attachment in the frames of that socket. */
export class AttachedTerminal implements Disposable {
  readonly #options: AttachmentOptions;
  readonly #peer: TerminalPeer;
  readonly #attachment: Attachment;
  readonly #over = Promise.withResolvers<void>();
  #isOver = false;
  /** The size that was asked for last: the controller's, and the host's word for it may be under way. */
  #asked: { readonly cols: number; readonly rows: number } | undefined;

  constructor(options: AttachmentOptions, peer: TerminalPeer) {
    this.#options = options;
    this.#peer = peer;
    this.#attachment = new Attachment(options, {
      encoding: encodingOf(options.handle),
      outbox: peer.lane.outbox,
      say: (frame) => this.#say(frame),
      close: (code) => this.#close(code),
      describe: (error) => {
        const described = describeError(error);
        if (described.code === "internal") peer.onError(error);
        return described;
      },
    });
  }

  /** Resolves when its first frame has been sent. */
  async start(): Promise<void> {
    await this.#attachment.start();
  }

  async type(bytes: Uint8Array, inputId: string | undefined): Promise<void> {
    this.#checkThere();
    await this.#attachment.write(bytes, inputId);
  }

  /** 0 keeps that side as it is. */
  async resize(cols: number, rows: number): Promise<void> {
    this.#checkThere();
    const { session } = this.#attachment;
    const now = this.#asked ?? { cols: session.cols ?? 0, rows: session.rows ?? 0 };
    const asked = { cols: cols || now.cols, rows: rows || now.rows };
    this.#asked = asked;
    try {
      await this.#attachment.serve({ type: "resize", ...asked });
    } catch (error) {
      this.#asked = undefined;
      throw error;
    }
  }

  /** Resolves when it has ended and the client has got all of it. */
  async close(reason: string | undefined): Promise<void> {
    this.#checkThere();
    const { role } = this.#options.caller;
    if (!isAtLeast(role, "operator"))
      throw new Fault("not_controller", `closing needs the role operator; yours is ${role}`);
    await this.#attachment.serve({ type: "close", reason });
    await this.#over.promise;
  }

  /** Detaches; the session goes on. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#peer.lane[Symbol.dispose]();
    this.#attachment[Symbol.dispose]();
    this.#over.resolve();
  }

  #say(frame: ServerFrame): void {
    const { session_id } = this.#attachment.session;
    const { say } = this.#peer;
    if (frame.type === "connected") this.#peer.greet(frame);
    if (frame.type === "control") this.#sayControl(frame);
    if (frame.type === "closing") this.#peer.hostGone();
    if (frame.type === "gap") {
      const { from, to } = frame;
      say({ type: "terminal.gap", payload: { session_id, from, to } });
    }
    if (frame.type === "error") {
      const { code, message } = frame;
      say({ type: "terminal.error", payload: { session_id, code, message } });
    }
    if (frame.type !== "exit") return;
    const { exit_code, signal, reason } = frame;
    this.#isOver = true;
    say({ type: "terminal.exit", payload: { session_id, exit_code, signal, reason } });
  }

  #sayControl({ holder, generation }: Extract<ServerFrame, { readonly type: "control" }>): void {
    const { session } = this.#attachment;
    // The exit says that nobody controls it any more.
    if (this.#isOver || hasEnded(session)) return;
    const { session_id } = session;
    this.#peer.say({ type: "terminal.control", payload: { session_id, holder, generation } });
  }

  /** A client that has lost control watches. */
  #close(code: number): void {
    if (code === closeCodes.taken_over) this.#asked = undefined;
    else this.#peer.over();
  }

  #checkThere(): void {
    if (this.#isOver) throw sessionNotFound(this.#attachment.session.session_id);
  }
}

const DATA_LIMIT_BYTES = 64 * 1024;
const encodings = new WeakMap<SessionHandle["output"], FrameEncoding>();

/** One for all clients of the session, so that they share its frames. */
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
