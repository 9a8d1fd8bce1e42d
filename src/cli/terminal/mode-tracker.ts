import { VtScanner } from "./vt-scanner.ts";

/** Private modes that are off in a shell's terminal, and that a program may leave on. */
const OFF_IN_A_SHELL = new Set([
  1, 5, 6, 9, 45, 47, 66, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 1047, 1049, 2004,
  2026, 2031, 2048,
]);
/** And those that are on: lines wrap, the cursor is seen. */
const ON_IN_A_SHELL = new Set([7, 25]);
/** No terminal stacks more of them; without a bound a program could make us remember without end. */
const KEYBOARDS = 32;
const ALTERNATE = [47, 1047, 1049].map((mode) => `?${mode}`);

interface Switch {
  readonly on: RegExp;
  readonly off: RegExp;
  readonly undo: string;
}

/** What else a program may leave behind. */
const SWITCHES: readonly Switch[] = [
  // Keypad, insert mode, line drawing characters.
  { on: /^\x1b=$/, off: /^\x1b>$/, undo: "\x1b>" },
  { on: /^\x1b\[4h$/, off: /^\x1b\[4l$/, undo: "\x1b[4l" },
  { on: /^\x1b\(0$/, off: /^\x1b\([^0]$/, undo: "\x1b(B" },
  // The part that scrolls; setting it moves the cursor.
  { on: /^\x1b\[\d*;\d*r$/, off: /^\x1b\[r$/, undo: "\x1b7\x1b[r\x1b8" },
  // The cursor's shape.
  { on: /^\x1b\[[1-9] q$/, off: /^\x1b\[0? q$/, undo: "\x1b[0 q" },
  // Keys told apart, in xterm's way and in kitty's.
  { on: /^\x1b\[>4;[1-9]m$/, off: /^\x1b\[>4(?:;0?)?m$/, undo: "\x1b[>4m" },
  { on: /^\x1b\[=[1-9]\d*(?:;[12])?u$/, off: /^\x1b\[=0(?:;1)?u$/, undo: "\x1b[=0u" },
];

/** The window's title: kept on the terminal's own stack first, and cleared where a terminal has no such stack. */
const TITLE = {
  set: /^\x1b\][012];/,
  save: "\x1b[22;0t",
  undo: "\x1b]0;\x07\x1b[23;0t",
};

interface Change {
  readonly redo: string;
  readonly undo: string;
}

/** Knows which of the terminal's modes are not as in a shell, from what was written to it. */
export class ModeTracker {
  /** In the order in which they came. */
  readonly #changes = new Map<string, Change>();
  #keyboards: string[] = [];
  #isTitleSaved = false;
  readonly #scanner = new VtScanner({
    plain: () => undefined,
    sequence: (bytes) => this.#see(Buffer.from(bytes).toString("latin1")),
  });

  /** Answers what has to be written to the terminal before the chunk, so that `undo` can put back what it changes. */
  push(chunk: Uint8Array): string {
    this.#scanner.push(chunk);
    if (this.#isTitleSaved || !this.#changes.has(TITLE.undo)) return "";
    this.#isTitleSaved = true;
    return TITLE.save;
  }

  get isAlternate(): boolean {
    return ALTERNATE.some((mode) => this.#changes.has(mode));
  }

  /** What brings a shell's terminal to where this one is. */
  redo(): string {
    return [...[...this.#changes.values()].map(({ redo }) => redo), ...this.#keyboards].join("");
  }

  /** What puts the terminal back as a shell expects it. */
  undo(): string {
    // Each of the two screens has its own keyboards, so they go before the screen does.
    const keyboards = this.#keyboards.length > 0 ? `\x1b[<${this.#keyboards.length}u` : "";
    const changes = [...this.#changes.values()].reverse().map(({ undo }) => undo);
    return `\x1b[0m${keyboards}${changes.join("")}`;
  }

  #see(sequence: string): void {
    const modes = /^\x1b\[\?([\d;]+)([hl])$/.exec(sequence);
    if (modes !== null) {
      for (const mode of (modes[1] ?? "").split(";").map(Number)) this.#set(mode, modes[2] === "h");
      return;
    }
    if (sequence === "\x1bc") this.#reset();
    else if (TITLE.set.test(sequence))
      this.#changes.set(TITLE.undo, { redo: `${TITLE.save}${sequence}`, undo: TITLE.undo });
    else if (/^\x1b\[>\d*u$/.test(sequence))
      this.#keyboards = [...this.#keyboards, sequence].slice(-KEYBOARDS);
    else if (/^\x1b\[<\d*u$/.test(sequence)) this.#popKeyboards(Number(sequence.slice(3, -1) || 1));
    else this.#turn(sequence);
  }

  #reset(): void {
    this.#changes.clear();
    this.#keyboards = [];
    this.#isTitleSaved = false;
  }

  #set(mode: number, isOn: boolean): void {
    if (!OFF_IN_A_SHELL.has(mode) && !ON_IN_A_SHELL.has(mode)) return;
    const key = `?${mode}`;
    const asInShell = ON_IN_A_SHELL.has(mode);
    if (isOn === asInShell) this.#changes.delete(key);
    else {
      const [redo, undo] = [`\x1b[?${mode}${isOn ? "h" : "l"}`, `\x1b[?${mode}${isOn ? "l" : "h"}`];
      this.#changes.set(key, { redo, undo });
    }
  }

  #turn(sequence: string): void {
    for (const { on, off, undo } of SWITCHES) {
      if (on.test(sequence)) this.#changes.set(undo, { redo: sequence, undo });
      else if (off.test(sequence)) this.#changes.delete(undo);
    }
  }

  #popKeyboards(count: number): void {
    this.#keyboards.splice(Math.max(0, this.#keyboards.length - count), count);
  }
}
