import { limits } from "#contract/limits.ts";
import { isString, nextState, PRINTABLE, states } from "./sequence-states.ts";

/** The strings that a program can send without an end, by what terminates them. */
export type StringKind = "osc" | "dcs" | "private";

const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SPACE = 0x20;
const DEL = 0x7f;
/** In UTF-8 the first byte of every C1 control. */
const C1_LEAD = 0xc2;
const C1_LAST = 0x9f;
/** A character has at most this many bytes behind its first. */
const CONTINUATIONS = 3;

const NOTHING = new Uint8Array(0);
const ABORT = Uint8Array.of(CAN);

/** A terminal that gets this is inside a string of that kind, of which nothing has an effect. */
const openings: Readonly<Record<StringKind, string>> = {
  osc: "\x1b]9999;",
  dcs: "\x1bPx",
  private: "\x1bX",
};
const dropStates: Readonly<Record<StringKind, number>> = {
  osc: states.osc,
  dcs: states.dcsPayload,
  private: states.privateString,
};

/**
 * Stands between a program's output and an emulator, which would collect a string (OSC, DCS, APC, PM, SOS) without a
 * bound. A string up to the limit passes unchanged. A longer one is aborted by a CAN, and its rest is left out:
 *
 *   pass --- longer than the limit: CAN ---> drop --- its terminator, or what else ends it ---> pass
 *
 * What passes ends between two characters; a character that is cut by the end of a chunk waits for its rest. So the
 * emulator sees the same, however the stream is cut.
 */
export class SequenceFilter {
  readonly #most: number;
  #state: number;
  #isDropping: boolean;
  /** Bytes of the string so far, its introducer included. */
  #length = 0;
  /** The beginning of a character. */
  #held: Uint8Array = NOTHING;
  /** Bytes behind the last place at which nothing was unfinished. */
  #pending = 0;

  constructor({ most = limits.sequence_bytes, dropped }: FilterOptions = {}) {
    this.#most = most;
    this.#isDropping = dropped !== undefined;
    this.#state = dropped === undefined ? states.ground : dropStates[dropped];
  }

  /** The string whose rest is being left out. */
  get dropped(): StringKind | undefined {
    if (!this.#isDropping) return undefined;
    if (this.#state === states.osc) return "osc";
    return this.#state === states.privateString ? "private" : "dcs";
  }

  /** The bytes that bring another terminal to where this one is: inside a string that is being left out. */
  get opening(): string {
    const { dropped } = this;
    return dropped === undefined ? "" : openings[dropped];
  }

  /** The emulator is between two characters and outside of any sequence. */
  get isAtRest(): boolean {
    return this.#pending === 0;
  }

  /** How many bytes back it was at rest. */
  get pendingBytes(): number {
    return this.#pending;
  }

  push(bytes: Uint8Array): Uint8Array {
    const input = this.#held.length === 0 ? bytes : joined([this.#held, bytes]);
    const before = this.#pending - this.#held.length;
    const pass = new Pass(input, { isOpen: !this.#isDropping });
    const end = this.#scan(input, pass);
    // A copy: the caller may use its buffer again.
    this.#held = end === input.length ? NOTHING : Uint8Array.from(input.subarray(end));
    const rest = this.#isResting ? end : pass.rest;
    this.#pending = rest === undefined ? before + input.length : input.length - rest;
    return pass.take(end);
  }

  get #isResting(): boolean {
    return this.#state === states.ground || this.#isDropping;
  }

  /** Says where the character begins that the input does not hold to its end. */
  #scan(input: Uint8Array, pass: Pass): number {
    let at = 0;
    while (at < input.length) {
      at = this.#skipPlain(input, at, pass);
      if (at >= input.length) break;
      const length = characterLength(input, at);
      if (length === 0) return at;
      this.#take(pass, { at, length, code: codeAt(input, at, length) });
      at += length;
    }
    return input.length;
  }

  /** Past characters that change nothing but the length. */
  #skipPlain(input: Uint8Array, from: number, pass: Pass): number {
    let at = from;
    if (this.#state === states.ground) {
      const end = input.length - CONTINUATIONS;
      while (at < end && input[at] !== ESC && input[at] !== C1_LEAD) at += 1;
      return at;
    }
    if (!isString(this.#state)) return this.#skipShort(input, at);
    if (!takesPlain(this.#state)) return at;
    while (at < input.length && isPlain(input[at] ?? 0)) at += 1;
    this.#grow(pass, { at: from, length: at - from });
    return at;
  }

  /** Through a sequence that is not a string, of which nothing has to be remembered. */
  #skipShort(input: Uint8Array, from: number): number {
    let at = from;
    for (; at < input.length && this.#state !== states.ground; at += 1) {
      const byte = input[at] ?? 0;
      if (byte > DEL) break;
      const state = nextState(this.#state, byte);
      if (isString(state)) break;
      this.#state = state;
    }
    return at;
  }

  #take(pass: Pass, character: Character & { readonly code: number | undefined }): void {
    const { at, length, code } = character;
    if (code === undefined) {
      // Not a character: an emulator skips it.
      this.#grow(pass, character);
      return;
    }
    const state = nextState(this.#state, code);
    const isSame = isString(state) && isString(this.#state) && !isIntroducer(code);
    if (isSame) {
      // In what is left out, one state for each kind is enough.
      if (!this.#isDropping) this.#state = state;
      this.#grow(pass, character);
      return;
    }
    if (this.#isResting && state !== states.ground) pass.rest = at;
    if (this.#isDropping) {
      this.#isDropping = false;
      // A terminator that would ring, and a character that ends a string without being printed.
      pass.open(code === BEL || code === PRINTABLE ? at + length : at);
    }
    this.#state = state;
    this.#length = isString(state) ? length : 0;
  }

  #grow(pass: Pass, { at, length }: Character): void {
    if (!isString(this.#state) || this.#isDropping) return;
    const room = this.#most - this.#length;
    this.#length += length;
    if (length <= room) return;
    pass.close(at);
    this.#isDropping = true;
    this.#length = 0;
    if (this.#state >= states.dcsEntry) this.#state = states.dcsPayload;
  }
}

interface FilterOptions {
  readonly most?: number | undefined;
  readonly dropped?: StringKind | undefined;
}

interface Character {
  readonly at: number;
  readonly length: number;
}

/** The part of one input that reaches the emulator. */
class Pass {
  readonly #input: Uint8Array;
  readonly #parts: Uint8Array[] = [];
  #from: number | undefined;
  /** Where it was last at rest. */
  rest: number | undefined;

  constructor(input: Uint8Array, { isOpen }: { readonly isOpen: boolean }) {
    this.#input = input;
    this.#from = isOpen ? 0 : undefined;
  }

  open(at: number): void {
    this.#from = at;
  }

  close(at: number): void {
    this.#parts.push(this.#input.subarray(this.#from, at), ABORT);
    this.#from = undefined;
  }

  take(end: number): Uint8Array {
    if (this.#from !== undefined) this.#parts.push(this.#input.subarray(this.#from, end));
    const [first = NOTHING, ...others] = this.#parts;
    return others.length === 0 ? first : joined(this.#parts);
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Every printable ASCII character leaves these states as they are. */
function takesPlain(state: number): boolean {
  return state === states.osc || state === states.dcsPayload || state === states.privateString;
}

function isPlain(byte: number): boolean {
  return byte >= SPACE && byte < DEL;
}

function isIntroducer(code: number): boolean {
  return code === 0x90 || code === 0x98 || (code >= 0x9d && code <= C1_LAST);
}

/** Bytes that are one character, or that a decoder skips together; 0 when the rest is not there yet. */
function characterLength(bytes: Uint8Array, at: number): number {
  const wanted = continuationsOf(bytes[at] ?? 0);
  for (let count = 1; count <= wanted; count += 1) {
    const byte = bytes[at + count];
    if (byte === undefined) return 0;
    if (!isContinuation(byte)) return count;
  }
  return wanted + 1;
}

/** Undefined for bytes that are not UTF-8, which the emulator's decoder skips; so is a byte order mark. */
function codeAt(bytes: Uint8Array, at: number, length: number): number | undefined {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return lead;
  const continuations = continuationsOf(lead);
  if (continuations === 0 || length !== continuations + 1) return undefined;
  let point = lead & (0x3f >> continuations);
  for (let next = at + 1; next < at + length; next += 1)
    point = (point << 6) | ((bytes[next] ?? 0) & 0x3f);
  if (!isCharacter(point, continuations)) return undefined;
  return point <= C1_LAST ? point : PRINTABLE;
}

function continuationsOf(lead: number): number {
  if (lead < 0xc0 || lead > 0xf7) return 0;
  if (lead < 0xe0) return 1;
  return lead < 0xf0 ? 2 : CONTINUATIONS;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

const SHORTEST = [0, 0x80, 0x800, 0x10000];
const BYTE_ORDER_MARK = 0xfeff;

function isCharacter(point: number, continuations: number): boolean {
  if (point < (SHORTEST[continuations] ?? 0) || point > 0x10ffff) return false;
  return (point < 0xd800 || point > 0xdfff) && point !== BYTE_ORDER_MARK;
}
