import { Emulator } from "./emulator.ts";

/** Held back before it is looked through; mostly the emulator is at rest again long before. */
const HELD_BYTES = 1024 * 1024;
const ESCAPE = 0x1b;
const LEAD_BYTE = 0xc0;

/**
 * Where an unfinished sequence or character begins. The screen is the same there as at the end of what was fed, since
 * nothing of it has had an effect yet; but only there can somebody go on who has not seen what came before.
 */
export class RestFinder implements Disposable {
  #rest: number;
  #next: number;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** Only its parser is of use. */
  #scratch: Emulator | undefined;

  constructor(offset: number) {
    this.#rest = offset;
    this.#next = offset;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Everything up to here is finished. */
  settle(offset: number): void {
    this.#rest = offset;
    this.#next = offset;
    this.#held = [];
    this.#heldBytes = 0;
    this[Symbol.dispose]();
  }

  /** What came next, with something unfinished at its end. */
  hold(bytes: Uint8Array): void {
    this.#held.push(Uint8Array.from(bytes));
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > HELD_BYTES) this.#digest();
  }

  find(): number {
    this.#digest();
    return this.#rest;
  }

  [Symbol.dispose](): void {
    this.#scratch?.[Symbol.dispose]();
    this.#scratch = undefined;
  }

  #digest(): void {
    if (this.#heldBytes === 0) return;
    const scratch =
      this.#scratch ?? new Emulator({ size: { cols: 2, rows: 1 }, convertEol: false });
    this.#scratch = scratch;
    const bytes = Buffer.concat(this.#held);
    let from = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      // Nothing else leads out of the rest.
      if (byte !== ESCAPE && byte < LEAD_BYTE) continue;
      if (at > from) scratch.core.writeSync(bytes.subarray(from, at));
      from = at;
      if (scratch.isAtRest) this.#rest = this.#next + at;
    }
    scratch.core.writeSync(bytes.subarray(from));
    this.#next += bytes.length;
    if (scratch.isAtRest) this.#rest = this.#next;
    this.#held = [];
    this.#heldBytes = 0;
  }
}
