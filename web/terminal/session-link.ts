import type { Attachment, AttachOptions } from "#client/attach/attachment.ts";
import type { AttachEvent } from "#client/attach/frames.ts";
import type { Client } from "#client/client.ts";
import type { OutputChannel } from "#contract/channels.ts";
import { isLive } from "#contract/ended.ts";
import type { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import { sayFault } from "#web/live/page-client.ts";
import { Store } from "#web/live/store.ts";
import type { Size } from "#web/terminal/emulator/sizing.ts";
import {
  type ControlEvent,
  type ControlState,
  changeControl,
  createControlState,
} from "./control-state.ts";
import type { HeldReins } from "./held-reins.ts";

/** What is drawn on. Each settles when there is room for more. */
export interface LinkedScreen {
  /** Anew, at this size. */
  begin(size: Size): Promise<void>;
  paint(state: string): Promise<void>;
  print(bytes: Uint8Array, how: Printing): Promise<void>;
  /** The child has this size from here on. */
  resize(size: Size): Promise<void>;
  gap(bytes: number): Promise<void>;
  /** So much was left out to keep up; the log has it. */
  skip(bytes: number): Promise<void>;
  /** The last byte is shown. */
  end(): Promise<void>;
}

interface Printing {
  readonly channel: OutputChannel;
  /** Printed while this page was there and held the reins: only such output is answered. */
  readonly isLive: boolean;
}

interface LinkOptions {
  readonly client: Pick<Client, "attach" | "call">;
  readonly session: Session;
  readonly screen: LinkedScreen;
  readonly mayControl: boolean;
  readonly held: HeldReins;
  /** Something was refused that nobody waited for. */
  readonly onRefusal: (sentence: string) => void;
}

/** Unread beyond it, the connection is given up until we have caught up: a flood is drawn as it is now, not as it was. */
const UNREAD_BYTES = 512 * 1024;
/** Further behind than this nobody would read it any more: of the way only the last part is drawn. */
const BEHIND_BYTES = 1024 * 1024;
const DRAWN_BYTES = 512 * 1024;
/** A cut that is mended sooner need not be told. */
const NOTICED_MS = 400;
const DEFAULT_SIZE: Size = { cols: 80, rows: 24 };

/**
 * One session and this page: what it prints goes to the screen in order, what is typed goes back while this page holds
 * the reins. Cuts are mended by the client library, which also stays attached as a viewer when another client takes control.
 */
export class SessionLink implements Disposable {
  readonly state: Store<ControlState>;
  readonly #options: LinkOptions;
  readonly #ending = new AbortController();
  #attachment: Attachment | undefined;
  #childSize: Size | undefined;
  /** What it was told to become, and has not yet. */
  #offeredSize: Size | undefined;
  #wantedSize: Size | undefined;
  /** From here on output is printed while we are here. */
  #liveFrom = Number.POSITIVE_INFINITY;
  #skipUntil = 0;
  #skipped = 0;
  #noticing: ReturnType<typeof setTimeout> | undefined;
  #hasBegun = false;
  /** A size that comes while the server paints would not be told: it is asked for afterwards. */
  #isPainting = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.state = new Store(createControlState(options.session.controller?.holder ?? null));
  }

  /** Settles when the session is over or the link is disposed. */
  async run(): Promise<void> {
    let options: AttachOptions | undefined = await this.#firstOptions();
    while (options !== undefined && !this.#ending.signal.aborted)
      options = await this.#follow(options);
  }

  type(data: string | Uint8Array): void {
    if (this.state.get().role === "controller") this.#written(this.#attachment?.write(data));
    else this.#change({ type: "typed_in_vain" });
  }

  /** The end of what a command reads from its pipe. */
  endInput(): void {
    this.#written(this.#attachment?.eof());
  }

  /** The size that this page has room for; the child gets it while this page holds the reins. */
  want(size: Size): void {
    this.#wantedSize = size;
    this.#offerSize();
  }

  async take(): Promise<void> {
    await this.#asked(this.#attachment?.take(), "took");
    this.#offerSize();
  }

  release(): Promise<void> {
    return this.#asked(this.#attachment?.release(), "released");
  }

  dismiss(what: "hint" | "back" | "taken"): void {
    this.#change({ type: "dismissed", what });
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
    clearTimeout(this.#noticing);
    void this.#attachment?.detach();
  }

  /** Asked anew: a list may be older than the last who let go. */
  async #firstOptions(): Promise<AttachOptions> {
    const { client, session, mayControl, held } = this.#options;
    const { session_id } = session;
    const { signal } = this.#ending;
    const newest = await client
      .call("session.get", { session_id }, { signal })
      .catch(() => session);
    this.#change({ type: "control", holder: newest.controller?.holder ?? null });
    const from = newest.mode === "pty" ? { since: "tail" as const, paint: true } : {};
    if (!mayControl || !isLive(newest) || newest.mode !== "pty") return { ...from, role: "viewer" };
    if (newest.controller === null) return { ...from, role: "controller" };
    const isOwn = newest.controller.generation === held.find();
    return isOwn ? { ...from, role: "controller", takeover: true } : { ...from, role: "viewer" };
  }

  /** One attachment to its end; what to attach with next, if anything. */
  async #follow(options: AttachOptions): Promise<AttachOptions | undefined> {
    const { client, session } = this.#options;
    const { signal } = this.#ending;
    const attachment = client.attach(session.session_id, {
      ...options,
      signal,
      stay: true,
      queueBytes: UNREAD_BYTES,
    });
    this.#attachment = attachment;
    this.#isPainting = options.paint === true;
    for await (const event of attachment) {
      if (signal.aborted) return undefined;
      await this.#apply(event);
      this.#painted(event);
      // Another client was faster: that is not a failure, but this page only views.
      if (event.type === "failed" && isBeaten(event.fault, options))
        return { ...options, role: "viewer", takeover: false };
    }
    return undefined;
  }

  async #apply(event: AttachEvent): Promise<void> {
    const { screen } = this.#options;
    switch (event.type) {
      case "connected":
      case "restored":
        return await this.#connected(event);
      case "screen":
        return await screen.paint(event.state);
      case "output":
        return await this.#print(event);
      case "gap":
        return await screen.gap(event.to - event.from);
      case "resized":
        return await this.#resized(event);
      case "exit":
        await screen.end();
        return this.#change(event);
      case "failed":
        return this.#failed(event.fault);
      case "error":
        return this.#refused(event.fault);
      case "lost":
        return this.#lost();
      case "control":
      case "taken_over":
        return this.#change(event);
      case "closing":
        return;
    }
  }

  async #connected(event: Extract<AttachEvent, { type: "connected" | "restored" }>): Promise<void> {
    const { type, role, tail, cols, rows } = event;
    this.#liveFrom = tail;
    const from = this.#attachment?.offset ?? tail;
    this.#skipUntil = tail - from > BEHIND_BYTES ? tail - DRAWN_BYTES : 0;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      const size = cols === null || rows === null ? DEFAULT_SIZE : { cols, rows };
      this.#childSize = size;
      await this.#options.screen.begin(size);
    }
    this.#offeredSize = undefined;
    const isNoticed = this.state.get().connection === "lost";
    clearTimeout(this.#noticing);
    this.#noticing = undefined;
    this.#change({ type, role, isNoticed });
    if (!this.#isPainting) this.#change({ type: "drawn" });
    this.#offerSize();
  }

  #lost(): void {
    this.#noticing ??= setTimeout(() => this.#change({ type: "lost" }), NOTICED_MS);
  }

  /** What was printed before we came, or while we were away, is not live; a frame may hold both. */
  async #print({
    offset,
    bytes,
    channel,
  }: Extract<AttachEvent, { type: "output" }>): Promise<void> {
    const { screen } = this.#options;
    if (offset + bytes.length <= this.#skipUntil) {
      this.#skipped += bytes.length;
      return;
    }
    if (this.#skipped > 0) await screen.skip(this.#skipped);
    this.#skipped = 0;
    const old = Math.max(0, Math.min(bytes.length, this.#liveFrom - offset));
    if (old > 0) await screen.print(bytes.subarray(0, old), { channel, isLive: false });
    const isLive = this.state.get().role === "controller";
    if (old < bytes.length) await screen.print(bytes.subarray(old), { channel, isLive });
  }

  async #resized({ cols, rows }: Size): Promise<void> {
    this.#childSize = { cols, rows };
    this.#offeredSize = undefined;
    await this.#options.screen.resize({ cols, rows });
  }

  /** It is, or it could not be. */
  #painted({ type }: AttachEvent): void {
    if (!this.#isPainting || !["screen", "output", "gap", "error"].includes(type)) return;
    this.#isPainting = false;
    this.#change({ type: "drawn" });
    this.#offerSize();
  }

  #offerSize(): void {
    if (this.#isPainting) return;
    const wanted = this.#wantedSize;
    const child = this.#offeredSize ?? this.#childSize;
    if (this.state.get().role !== "controller" || wanted === undefined || child === undefined)
      return;
    if (this.#options.session.mode !== "pty") return;
    if (wanted.cols === child.cols && wanted.rows === child.rows) return;
    // The screen follows when the server says at which byte the child has got it.
    this.#offeredSize = wanted;
    this.#written(this.#attachment?.resize(wanted.cols, wanted.rows));
  }

  #failed(fault: Fault): void {
    if (fault.code === "not_controller") this.#change({ type: "refused" });
    else this.#change({ type: "failed", sentence: sayFault(fault) });
  }

  #refused(fault: Fault): void {
    this.#offeredSize = undefined;
    if (fault.code === "not_controller") this.#change({ type: "refused" });
    else if (fault.code !== "already_exited") this.#options.onRefusal(sayFault(fault));
  }

  async #asked(asking: Promise<void> | undefined, type: "took" | "released"): Promise<void> {
    try {
      await asking;
      this.#change({ type });
    } catch (error) {
      this.#options.onRefusal(sayFault(error));
    }
  }

  /** Refusals come as events, except for what was never sent. */
  #written(writing: Promise<void> | undefined): void {
    writing?.catch((error: Fault) => {
      if (error.code === "queue_full") this.#options.onRefusal(sayFault(error));
    });
  }

  #change(event: ControlEvent): void {
    this.state.change((state) => changeControl(state, event));
    if (this.#attachment === undefined) return;
    const isOver = this.state.get().connection === "over";
    this.#options.held.keep(isOver ? undefined : this.#attachment.generation);
  }
}

function isBeaten({ code }: Fault, { role }: AttachOptions): boolean {
  return code === "not_controller" && role === "controller";
}
