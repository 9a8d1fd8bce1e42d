import type { Clock } from "#base/clock.ts";

/** What somebody at an attached terminal means by the keys that are ours: the prefix Ctrl-\ and one more. */
export type Chord = "detach" | "take";

export const DETACH_HINT = "Ctrl-\\ d detaches";

const ESC = "\x1b";
/** Ctrl-\ as a byte, and as terminals with an extended keyboard send it: kitty's with the lock keys, xterm's. */
const PREFIXES: readonly string[] = [
  "\x1c",
  ...[5, 69, 133, 197].map((modifiers) => `${ESC}[92;${modifiers}u`),
  `${ESC}[27;5;92~`,
];
const CHORDS: Readonly<Record<string, Chord>> = { d: "detach", D: "detach", t: "take" };
/** The parts of one key follow each other at once; what has waited for so long is not one of ours. */
export const PARTS_MS = 50;

export interface KeyListener {
  keys(bytes: Buffer): void;
  chord(chord: Chord): void;
}

/** Something that may become a prefix, or has become one; of its ESC the program may have been told already. */
interface Pending {
  readonly text: string;
  readonly told: string;
}

const NOTHING: Pending = { text: "", told: "" };

/**
 * Finds our chords in what is typed, however it is cut into chunks. The prefix twice is one prefix for the program;
 * the prefix and any other key are passed on as they are. The ESC key never waits: it goes to the program at once,
 * and only what may come behind it in the same key is held for a moment.
 */
export class KeyChords implements Disposable {
  readonly #listener: KeyListener;
  readonly #clock: Clock;
  #prefix: Pending | undefined;
  #held = NOTHING;
  #timer: Disposable | undefined;

  constructor(listener: KeyListener, clock: Clock) {
    this.#listener = listener;
    this.#clock = clock;
  }

  push(bytes: Buffer): void {
    // Latin-1 keeps every byte as one character.
    let rest = { text: this.#held.text + bytes.toString("latin1"), told: this.#held.told };
    this.#hold(NOTHING);
    while (rest.text !== "")
      rest = this.#prefix === undefined ? this.#plain(rest) : this.#behind(this.#prefix, rest);
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #plain({ text, told }: Pending): Pending {
    const found = findPrefix(text);
    if (found !== undefined) {
      this.#emit(text.slice(told.length, found.at));
      this.#prefix = { text: found.prefix, told: found.at === 0 ? told : "" };
      return { text: text.slice(found.at + found.prefix.length), told: "" };
    }
    const part = findPart(text);
    const known = part.length === text.length ? told : "";
    // An ESC alone may be the key of that name, so it is not kept waiting.
    const held = { text: part, told: part === ESC ? ESC : known };
    this.#emit(text.slice(told.length, text.length - part.length + held.told.length));
    this.#hold(held);
    return NOTHING;
  }

  #behind(prefix: Pending, { text }: Pending): Pending {
    const again = PREFIXES.find((other) => text.startsWith(other));
    if (again === undefined && PREFIXES.some((other) => other.startsWith(text))) {
      this.#hold({ text, told: "" });
      return NOTHING;
    }
    this.#prefix = undefined;
    const untold = prefix.text.slice(prefix.told.length);
    if (again !== undefined) {
      this.#emit(untold);
      return { text: text.slice(again.length), told: "" };
    }
    const key = text[0] ?? "";
    const chord = Object.hasOwn(CHORDS, key) ? CHORDS[key] : undefined;
    if (chord === undefined) this.#emit(untold + key);
    else this.#listener.chord(chord);
    return { text: text.slice(key.length), told: "" };
  }

  #hold(held: Pending): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = held.text === "" ? undefined : this.#clock.timer(PARTS_MS, () => this.#giveUp());
    this.#held = held;
  }

  /** Nothing came behind it: it was no key of ours. */
  #giveUp(): void {
    const { text, told } = this.#held;
    const prefix = this.#prefix ?? NOTHING;
    this.#hold(NOTHING);
    this.#prefix = undefined;
    this.#emit(prefix.text.slice(prefix.told.length) + text.slice(told.length));
  }

  #emit(text: string): void {
    if (text !== "") this.#listener.keys(Buffer.from(text, "latin1"));
  }
}

function findPrefix(text: string): { readonly at: number; readonly prefix: string } | undefined {
  const found = PREFIXES.map((prefix) => ({ at: text.indexOf(prefix), prefix })).filter(
    ({ at }) => at >= 0,
  );
  return found.toSorted((a, b) => a.at - b.at)[0];
}

/** The end of the text that may be the beginning of a prefix. */
function findPart(text: string): string {
  const at = text.lastIndexOf(ESC);
  const part = at < 0 ? "" : text.slice(at);
  return PREFIXES.some((prefix) => prefix.startsWith(part)) ? part : "";
}
