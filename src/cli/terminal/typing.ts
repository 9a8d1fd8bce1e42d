import { type Clock, systemClock } from "#base/clock.ts";
import type { Attachment } from "#client/attach/attachment.ts";
import type { AttachEvent } from "#client/attach/frames.ts";
import { KeyHold } from "./key-hold.ts";
import type { Typed } from "./keyboard.ts";
import type { Size } from "./raw-mode.ts";

export type TypedAttachment = Pick<
  Attachment,
  "write" | "resize" | "take" | "signal" | "detach" | typeof Symbol.asyncIterator
>;

export interface TypingOptions {
  readonly role: "viewer" | "controller";
  /** Asks the program to repaint for a client that has no control. */
  readonly repaint: () => Promise<unknown>;
  readonly clock?: Clock | undefined;
}

/** A refusal is an event as well, and so is the end. */
const reportedByEvent = () => undefined;

/**
 * The keyboard's end of an attachment. Keys go to the session while this client has control, and from the moment it asks for
 * control: the attachment keeps their order. Keys of a client that only watches go nowhere.
 */
export class Typing implements Typed, AsyncDisposable {
  readonly #attachment: TypedAttachment;
  readonly #repaint: TypingOptions["repaint"];
  readonly #keys: KeyHold;
  #controls = false;
  #isTaking: boolean;

  constructor(attachment: TypedAttachment, { role, repaint, clock = systemClock }: TypingOptions) {
    this.#attachment = attachment;
    this.#repaint = repaint;
    this.#isTaking = role === "controller";
    this.#keys = new KeyHold((bytes) => this.#write(bytes), clock);
  }

  /** Until the session ends, the attachment fails for good, or the user leaves. */
  async *events(): AsyncGenerator<AttachEvent, void, void> {
    for await (const event of this.#attachment) {
      if (event.type === "connected" || event.type === "restored") {
        this.#controls = event.role === "controller";
        if (event.type === "connected") this.#isTaking = false;
      }
      if (event.type === "taken_over") this.#controls = false;
      yield event;
    }
  }

  type(bytes: Buffer): void {
    if (this.#controls || this.#isTaking) this.#keys.push(bytes);
  }

  /** The program has printed: it has repainted, if it was asked to. */
  printed(): void {
    this.#keys.release();
  }

  resize({ cols, rows }: Size): void {
    if (this.#controls) this.#attachment.resize(cols, rows).catch(reportedByEvent);
  }

  take(size: () => Size): void {
    if (this.#controls || this.#isTaking) return;
    this.#isTaking = true;
    const { cols, rows } = size();
    const taken = this.#attachment.take().then(() => {
      this.#controls = true;
    });
    taken.catch(reportedByEvent).finally(() => {
      this.#isTaking = false;
    });
    // Right behind it, before any key.
    this.#attachment.resize(cols, rows).catch(reportedByEvent);
  }

  /** A full-screen program repaints where its screen was not shown whole. */
  repaint(): void {
    this.#keys.begin();
    const asked = this.#controls ? this.#attachment.signal("SIGWINCH") : this.#repaint();
    asked.catch(reportedByEvent);
  }

  async leave(): Promise<void> {
    this.#keys[Symbol.dispose]();
    await this.#attachment.detach();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.leave();
  }

  #write(bytes: Buffer): void {
    if (this.#controls || this.#isTaking) this.#attachment.write(bytes).catch(reportedByEvent);
  }
}
