import { VtScanner } from "./vt-scanner.ts";

/** Modes that a program may leave on and that would spoil the terminal of whoever detaches. */
const WATCHED = new Set([
  1, 9, 47, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 1047, 1049, 2004, 2026,
]);
const CURSOR = 25;
const ALTERNATE = [47, 1047, 1049] as const;

/** Knows which of the terminal's modes are on, from what was written to it. */
export class ModeTracker {
  readonly #on = new Set<number>();
  #isCursorHidden = false;
  #keyboardPushes = 0;
  #isKeypad = false;
  readonly #scanner = new VtScanner({
    plain: () => undefined,
    sequence: (bytes) => this.#see(Buffer.from(bytes).toString("latin1")),
  });

  push(chunk: Uint8Array): void {
    this.#scanner.push(chunk);
  }

  get isAlternate(): boolean {
    return ALTERNATE.some((mode) => this.#on.has(mode));
  }

  /** What puts the terminal back as a shell expects it; nothing when nothing was changed. */
  reset(): string {
    const off = [...this.#on].map((mode) => `\x1b[?${mode}l`).join("");
    const keyboard = this.#keyboardPushes > 0 ? `\x1b[<${this.#keyboardPushes}u` : "";
    const keypad = this.#isKeypad ? "\x1b>" : "";
    const cursor = this.#isCursorHidden ? "\x1b[?25h" : "";
    return `\x1b[0m${keyboard}${keypad}${off}${cursor}`;
  }

  #see(sequence: string): void {
    const modes = /^\x1b\[\?([\d;]+)([hl])$/.exec(sequence);
    if (modes !== null) {
      for (const mode of (modes[1] ?? "").split(";").map(Number)) this.#set(mode, modes[2] === "h");
      return;
    }
    if (sequence === "\x1b=" || sequence === "\x1b>") this.#isKeypad = sequence === "\x1b=";
    else if (/^\x1b\[>\d*u$/.test(sequence)) this.#keyboardPushes += 1;
    else if (/^\x1b\[<\d*u$/.test(sequence)) {
      this.#keyboardPushes = Math.max(0, this.#keyboardPushes - Number(sequence.slice(3, -1) || 1));
    } else if (sequence === "\x1bc") this.#forget();
  }

  #set(mode: number, isOn: boolean): void {
    if (mode === CURSOR) this.#isCursorHidden = !isOn;
    if (!WATCHED.has(mode)) return;
    if (isOn) this.#on.add(mode);
    else this.#on.delete(mode);
  }

  #forget(): void {
    this.#on.clear();
    this.#isCursorHidden = false;
    this.#keyboardPushes = 0;
    this.#isKeypad = false;
  }
}
