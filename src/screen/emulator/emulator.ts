import headless from "@xterm/headless";
import { limits } from "#contract/limits.ts";
import { SequenceFilter, type StringKind } from "#contract/terminal/sequence-filter.ts";
import { type Core, coreOf } from "./emulator-core.ts";
import { UnicodeGraphemesAddon } from "./graphemes.ts";
import { guardEmulator } from "./guards.ts";
import { LinkTable, type NumberedLink } from "./links.ts";

export interface ScreenSize {
  readonly cols: number;
  readonly rows: number;
}

export interface EmulatorOptions {
  readonly size: ScreenSize;
  /** For what was printed to a pipe: nobody has made \r\n of its \n. */
  readonly convertEol: boolean;
  /** The links that its cells will refer to. */
  readonly links?: readonly NumberedLink[];
  /** It begins inside a string that is too long to be shown. */
  readonly dropped?: StringKind | undefined;
}

/** The emulator knows no narrower screen. */
const LEAST_COLS = 2;

/** A terminal without a window. Nobody listens to what it would answer, and it is told not to. */
export class Emulator implements Disposable {
  readonly terminal: headless.Terminal;
  readonly core: Core;
  readonly links: LinkTable;
  readonly #filter: SequenceFilter;

  constructor({ size, convertEol, links, dropped }: EmulatorOptions) {
    this.links = new LinkTable(links);
    this.#filter = new SequenceFilter({ dropped });
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
    guardEmulator(this.terminal, this.links);
  }

  get size(): ScreenSize {
    return { cols: this.terminal.cols, rows: this.terminal.rows };
  }

  get cells(): number {
    return this.terminal.cols * (this.terminal.rows + limits.screen_scrollback);
  }

  /** Between two characters and outside of any sequence: the only place to take a snapshot. */
  get isAtRest(): boolean {
    return this.#filter.isAtRest;
  }

  /** How many bytes back it was at rest: there an unfinished sequence or character begins. */
  get pendingBytes(): number {
    return this.#filter.pendingBytes;
  }

  /** The string of which nothing is shown because it is too long, while it lasts. */
  get dropped(): StringKind | undefined {
    return this.#filter.dropped;
  }

  /** Brings another terminal into the same string. */
  get opening(): string {
    return this.#filter.opening;
  }

  /** Throws when the emulator fails; it is of no use any more then. */
  write(bytes: Uint8Array | string): void {
    const all = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
    const passed = this.#filter.push(all);
    if (passed.length > 0) this.core.writeSync(passed);
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
