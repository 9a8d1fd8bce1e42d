import headless from "@xterm/headless";
import { limits } from "#contract/limits.ts";
import { COMBINED_CHARS, type Core, coreOf } from "./emulator-core.ts";
import { UnicodeGraphemesAddon } from "./graphemes.ts";
import { guardEmulator } from "./guards.ts";

export interface ScreenSize {
  readonly cols: number;
  readonly rows: number;
}

export interface EmulatorOptions {
  readonly size: ScreenSize;
  /** For what was printed to a pipe: nobody has made \r\n of its \n. */
  readonly convertEol: boolean;
}

/** Kept of a title; one can be as long as ten million characters. */
const TITLE_CHARS = 4096;
/** The emulator knows no narrower screen. */
const LEAST_COLS = 2;
const GROUND = 0;

/** A terminal without a window. Nobody listens to what it would answer, and it is told not to. */
export class Emulator implements Disposable {
  readonly terminal: headless.Terminal;
  readonly core: Core;

  constructor({ size, convertEol }: EmulatorOptions) {
    this.terminal = new headless.Terminal({
      ...fittedSize(size),
      convertEol,
      scrollback: limits.screen_scrollback,
      allowProposedApi: true,
      disableStdin: true,
      logLevel: "off",
    });
    // As wide as the page draws them: an emoji of several parts is one, of two cells.
    this.terminal.loadAddon(new UnicodeGraphemesAddon());
    this.core = coreOf(this.terminal);
    guardEmulator(this.terminal);
  }

  get size(): ScreenSize {
    return { cols: this.terminal.cols, rows: this.terminal.rows };
  }

  get cells(): number {
    return this.terminal.cols * (this.terminal.rows + limits.screen_scrollback);
  }

  /** Between two characters and outside of any sequence: the only place to take a snapshot. */
  get isAtRest(): boolean {
    const { _parser, _utf8Decoder } = this.core._inputHandler;
    return _parser.currentState === GROUND && _utf8Decoder.interim.every((byte) => byte === 0);
  }

  /** Throws when the emulator fails; it is of no use any more then. */
  write(bytes: Uint8Array | string): void {
    this.core.writeSync(bytes);
    trimTitles(this.core);
    trimCombined(this.core);
  }

  resize(size: ScreenSize): void {
    const { cols, rows } = fittedSize(size);
    this.terminal.resize(cols, rows);
  }

  [Symbol.dispose](): void {
    this.terminal.dispose();
  }
}

/** Is it more than what is rendered? */
export function isTooLarge({ cols, rows }: ScreenSize): boolean {
  return cols > limits.screen_cols || rows > limits.screen_rows;
}

export function isSameSize(a: ScreenSize, b: ScreenSize): boolean {
  const fittedA = fittedSize(a);
  const fittedB = fittedSize(b);
  return fittedA.cols === fittedB.cols && fittedA.rows === fittedB.rows;
}

function fittedSize({ cols, rows }: ScreenSize): ScreenSize {
  return {
    cols: Math.min(Math.max(cols, LEAST_COLS), limits.screen_cols),
    rows: Math.min(Math.max(rows, 1), limits.screen_rows),
  };
}

function trimTitles({ _inputHandler: input }: Core): void {
  if (input._windowTitle.length > TITLE_CHARS)
    input._windowTitle = startOf(input._windowTitle, TITLE_CHARS);
  if (input._iconName.length > TITLE_CHARS) input._iconName = startOf(input._iconName, TITLE_CHARS);
}

/** Combining characters without end on one cell would take memory without end. */
function trimCombined(core: Core): void {
  const { active } = core._bufferService.buffers;
  for (let row = active.ybase; row < active.lines.length; row += 1) {
    const combined = active.lines.get(row)?._combined ?? {};
    for (const [column, chars] of Object.entries(combined))
      if (chars.length > COMBINED_CHARS) combined[Number(column)] = startOf(chars, COMBINED_CHARS);
  }
}

/** As a copy: a slice keeps all of what it was cut from in memory. */
function startOf(text: string, chars: number): string {
  return Buffer.from(text.slice(0, chars), "utf16le").toString("utf16le");
}
