import { ModeTracker } from "./mode-tracker.ts";
import { writeTo } from "./output-writer.ts";
import { QueryFilter } from "./query-filter.ts";

const NEWLINE = 0x0a;
/** Both screens blank: what is painted leaves out what is blank. */
const FRESH = "\x1b[?47h\x1b[H\x1b[2J\x1b[?47l\x1b[H\x1b[2J";
/** The keypad's mode has a number that few terminals know, and an older name that all do. */
const KEYPAD = ["\x1b[?66h", "\x1b="] as const;

/** This terminal as a session's output reaches it: history without its questions, the rest as it is. */
export class Screen {
  readonly #modes = new ModeTracker();
  readonly #filter = new QueryFilter();
  readonly #historyEnd: number;
  /** A command that is being run begins on a line of its own. */
  #isAtLineStart = true;

  constructor({ historyEnd }: { readonly historyEnd: number }) {
    this.#historyEnd = historyEnd;
  }

  /** A full-screen program is on. */
  get isAlternate(): boolean {
    return this.#modes.isAlternate;
  }

  /** Takes note of what was printed before the part that is to be shown. */
  skip(bytes: Uint8Array): void {
    this.#modes.push(bytes);
    this.#filter.push(bytes);
  }

  /** Brings the terminal to where what was skipped has left it. */
  async recall(): Promise<void> {
    await this.#print(Buffer.from(this.#modes.redo()));
  }

  async write(offset: number, bytes: Uint8Array): Promise<void> {
    const past = Math.max(0, Math.min(bytes.length, this.#historyEnd - offset));
    await this.#save(bytes);
    await this.#print(this.#filter.push(bytes.subarray(0, past)));
    if (past === bytes.length) return;
    // A sequence may have begun in history and end live.
    await this.#print(Buffer.concat([this.#filter.end(), bytes.subarray(past)]));
  }

  /** A screen as the server has drawn it, over all that was here, which scrolls away. It asks for nothing. */
  async paint(state: string, rows: number): Promise<void> {
    const away = "\r\n".repeat(rows);
    const bytes = Buffer.from(`${away}${FRESH}${state.replaceAll(...KEYPAD)}`);
    await this.#save(bytes);
    await this.#print(bytes);
  }

  /** Our own words to whoever sits here, on a line of their own. */
  notice(text: string): void {
    process.stderr.write(`${this.#isAtLineStart ? "\r" : "\r\n"}[reins: ${text}]\r\n`);
    this.#isAtLineStart = true;
  }

  /** What makes this a shell's terminal again. */
  undo(): string {
    return this.#modes.undo();
  }

  async #save(bytes: Uint8Array): Promise<void> {
    await writeTo(process.stdout, Buffer.from(this.#modes.push(bytes)));
  }

  async #print(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#isAtLineStart = bytes.at(-1) === NEWLINE;
    await writeTo(process.stdout, bytes);
  }
}
