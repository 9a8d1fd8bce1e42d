import { type Clock, systemClock } from "#base/clock.ts";
import type { RemotePlace } from "#cli/place/place.ts";
import { KeyHold } from "#cli/terminal/key-hold.ts";
import { AHEAD_CHUNKS, type Typed } from "#cli/terminal/keyboard.ts";
import type { Size } from "#cli/terminal/raw-mode.ts";
import type { Attachment } from "#client/attach/attachment.ts";
import type { AttachEvent } from "#client/attach/frames.ts";
import type { Session } from "#contract/session.ts";

export interface RemoteSeatRequest {
  readonly role: "viewer" | "controller";
  readonly takeover: boolean;
  /** Undefined: the screen as it is, instead of what was printed. */
  readonly since: number | undefined;
}

export interface RemoteSeatDeps {
  readonly place: Pick<RemotePlace, "attach">;
  readonly clock?: Clock;
}

/** What was refused comes as an event, and what was cut off as the end. */
const toldByEvent = () => undefined;

/**
 * A place at a session behind a server:
 *
 *   viewer ──take──▶ controller ──taken over──▶ viewer, on another connection that goes on at the same offset
 *
 * Cuts are the attachment's to mend; what is typed meanwhile is sent once when it is back.
 */
export class RemoteSeat implements Typed, AsyncDisposable {
  readonly #place: Pick<RemotePlace, "attach">;
  readonly #sessionId: Session["session_id"];
  #attachment: Attachment;
  #controls = false;
  #isTaking = false;
  #ahead: Buffer[] = [];
  readonly #keys: KeyHold;

  constructor(
    { place, clock = systemClock }: RemoteSeatDeps,
    { session_id }: Pick<Session, "session_id">,
    { role, takeover, since }: RemoteSeatRequest,
  ) {
    this.#place = place;
    this.#sessionId = session_id;
    // A refusal is an event as well.
    this.#keys = new KeyHold(
      (bytes) => this.#controls && void this.#attachment.write(bytes),
      clock,
    );
    const shown = since === undefined ? { paint: true } : { since };
    this.#attachment = place.attach(session_id, { role, takeover, ...shown });
  }

  /** Whether what is typed here arrives. */
  get controls(): boolean {
    return this.#controls;
  }

  /** Until the session ends, it fails for good, or somebody leaves. Who loses control goes on watching. */
  async *events(): AsyncGenerator<AttachEvent, void, void> {
    for (let isOn = true; isOn; ) {
      isOn = false;
      for await (const event of this.#attachment) {
        if (event.type === "connected" || event.type === "restored")
          this.#controls = event.role === "controller";
        if (event.type === "output") this.#keys.release();
        if (event.type === "taken_over") {
          this.#watch();
          isOn = true;
        }
        yield event;
      }
    }
  }

  type(bytes: Buffer): void {
    if (this.#controls) this.#keys.push(bytes);
    // Typed right behind the key that takes control: it is for then.
    else if (this.#isTaking && this.#ahead.length < AHEAD_CHUNKS) this.#ahead.push(bytes);
  }

  resize({ cols, rows }: Size): void {
    if (this.#controls) this.#attachment.resize(cols, rows).catch(toldByEvent);
  }

  take(size: () => Size): void {
    if (this.#controls || this.#isTaking) return;
    this.#isTaking = true;
    const take = async () => {
      try {
        await this.#attachment.take();
        this.#controls = true;
        this.resize(size());
        for (const bytes of this.#ahead) this.type(bytes);
      } finally {
        this.#isTaking = false;
        this.#ahead = [];
      }
    };
    take().catch(toldByEvent);
  }

  /** A full-screen program should paint itself anew where our own words stand on its screen. */
  repaint(): void {
    if (!this.#controls) return;
    this.#keys.begin();
    this.#attachment.signal("SIGWINCH").catch(toldByEvent);
  }

  async leave(): Promise<void> {
    this.#keys[Symbol.dispose]();
    await this.#attachment.detach();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.leave();
  }

  #watch(): void {
    this.#controls = false;
    const since = this.#attachment.offset;
    this.#attachment = this.#place.attach(this.#sessionId, { role: "viewer", since });
  }
}
