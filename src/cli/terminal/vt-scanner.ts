/**
 * Cuts a terminal's output into plain bytes and whole control sequences, wherever the chunks were cut:
 *
 *   ground ──ESC──> escape ──[──> csi ──final byte──> ground
 *                     ├──]──────> osc ──BEL, or ESC \──> ground
 *                     ├──P X ^ _──> string ──ESC \──> ground
 *                     └──anything else──> ground
 *
 * As in a terminal, CAN and SUB end whatever is open, and so does an ESC, with which the next one begins. A sequence
 * that does not end within a bound is given up and passed on as plain bytes.
 */
export interface VtListener {
  plain(bytes: Uint8Array): void;
  /** ESC included. */
  sequence(bytes: Uint8Array): void;
}

type State = "ground" | "control" | "escape" | "csi" | "osc" | "string" | "string_escape";

const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
const ENQ = 0x05;
const BACKSLASH = 0x5c;
/** Longer ones are pictures or nonsense. */
export const SEQUENCE_BYTES = 4096;
const STRING_OPENERS = new Set([..."PX^_"].map((letter) => letter.charCodeAt(0)));

export class VtScanner {
  readonly #listener: VtListener;
  #state: State = "ground";
  /** A sequence that began in an earlier chunk. */
  #held: Uint8Array = new Uint8Array();

  constructor(listener: VtListener) {
    this.#listener = listener;
  }

  push(chunk: Uint8Array): void {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    let at = this.#held.length;
    /** Where the plain run or the open sequence begins. */
    let begin = 0;
    this.#held = new Uint8Array();
    while (at < bytes.length) {
      if (this.#state === "ground") {
        at = findControl(bytes, at);
        this.#plain(bytes.subarray(begin, at));
        begin = at;
        if (at < bytes.length) this.#state = "control";
        continue;
      }
      const byte = bytes[at] ?? 0;
      const restart = findRestart(this.#state, byte);
      if (restart !== undefined) {
        this.#listener.sequence(bytes.subarray(begin, at - restart.back));
        begin = at - restart.back;
        this.#state = restart.state;
        continue;
      }
      this.#state = next(this.#state, byte);
      at += 1;
      if (this.#state === "ground" || at - begin >= SEQUENCE_BYTES) {
        this.#sequence(bytes.subarray(begin, at));
        begin = at;
      }
    }
    if (begin < bytes.length) this.#held = Uint8Array.from(bytes.subarray(begin));
  }

  /** What is still open is passed on as plain bytes. */
  end(): void {
    this.#plain(this.#held);
    this.#held = new Uint8Array();
    this.#state = "ground";
  }

  #sequence(bytes: Uint8Array): void {
    if (this.#state === "ground") this.#listener.sequence(bytes);
    else this.#listener.plain(bytes);
    this.#state = "ground";
  }

  #plain(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#listener.plain(bytes);
  }
}

function findControl(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at += 1)
    if (bytes[at] === ESC || bytes[at] === ENQ) return at;
  return bytes.length;
}

/** An ESC inside of a sequence: `back` bytes before this one the next sequence has begun. */
function findRestart(
  state: State,
  byte: number,
): { readonly back: number; readonly state: State } | undefined {
  if ((state === "escape" || state === "csi") && byte === ESC) return { back: 0, state: "control" };
  if (state === "string_escape" && byte !== BACKSLASH) return { back: 1, state: "escape" };
  return undefined;
}

type Step = (byte: number) => State;

const steps: Readonly<Record<State, Step>> = {
  ground: () => "ground",
  control: (byte) => (byte === ESC ? "escape" : "ground"),
  escape: (byte) => {
    if (byte === 0x5b) return "csi";
    if (byte === 0x5d) return "osc";
    if (STRING_OPENERS.has(byte)) return "string";
    // Intermediates such as `(` have one more byte to come.
    return byte >= 0x20 && byte <= 0x2f ? "escape" : "ground";
  },
  csi: (byte) => (byte >= 0x40 && byte <= 0x7e ? "ground" : "csi"),
  osc: (byte) => (byte === BEL ? "ground" : byte === ESC ? "string_escape" : "osc"),
  string: (byte) => (byte === ESC ? "string_escape" : "string"),
  string_escape: () => "ground",
};

function next(state: State, byte: number): State {
  return byte === CAN || byte === SUB ? "ground" : steps[state](byte);
}
