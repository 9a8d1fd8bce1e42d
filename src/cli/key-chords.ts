/** What somebody at an attached terminal means by the keys that are ours: the prefix Ctrl-\ and one more. */
export type Chord = "detach" | "take";

export const DETACH_HINT = "Ctrl-\\ d detaches";

/** Ctrl-\ as a byte, and as terminals with an extended keyboard protocol send it. */
const PREFIXES = ["\x1c", "\x1b[92;5u"] as const;
const CHORDS: Readonly<Record<string, Chord>> = { d: "detach", D: "detach", t: "take" };

export interface KeyListener {
  keys(bytes: Buffer): void;
  chord(chord: Chord): void;
}

/**
 * Finds our chords in what is typed, however it is cut into chunks. The prefix twice is one prefix for the program;
 * the prefix and any other key are passed on as they are.
 */
export class KeyChords {
  readonly #listener: KeyListener;
  #prefix: string | undefined;

  constructor(listener: KeyListener) {
    this.#listener = listener;
  }

  push(bytes: Buffer): void {
    // Latin-1 keeps every byte as one character.
    let text = bytes.toString("latin1");
    while (text !== "")
      text = this.#prefix === undefined ? this.#plain(text) : this.#afterPrefix(text, this.#prefix);
  }

  #plain(text: string): string {
    const found = findPrefix(text);
    if (found === undefined) {
      this.#emit(text);
      return "";
    }
    this.#emit(text.slice(0, found.at));
    this.#prefix = found.prefix;
    return text.slice(found.at + found.prefix.length);
  }

  #afterPrefix(text: string, prefix: string): string {
    this.#prefix = undefined;
    const again = PREFIXES.find((other) => text.startsWith(other));
    if (again !== undefined) {
      this.#emit(again);
      return text.slice(again.length);
    }
    const key = text[0] ?? "";
    const chord = Object.hasOwn(CHORDS, key) ? CHORDS[key] : undefined;
    if (chord === undefined) this.#emit(prefix + key);
    else this.#listener.chord(chord);
    return text.slice(1);
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
