import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { WebglAddon } from "@xterm/addon-webgl";
import { Terminal } from "@xterm/xterm";
import { type AnswerGuard, guardAnswers, guardHostile } from "./parser-guards.ts";
import { ScreenWriter } from "./screen-writer.ts";
import { fitFont, type Size } from "./sizing.ts";
import { CONTRAST_LEAST, readTheme } from "./theme.ts";
import { createTerminalDocument, openStyled, styleRows } from "./xterm-document.ts";
import "@xterm/xterm/css/xterm.css";

/** Lines above the screen; the server's own screen keeps fewer. */
const SCROLLBACK_LINES = 5000;
const SEARCH_MARKS_MOST = 1000;
/** Of the letters: below them an underscore would be cut. */
const LINE_HEIGHT = 1.1;
/** For the scroll bar. */
const GUTTER_PX = 14;

interface TerminalScreenOptions {
  readonly element: HTMLElement;
  readonly size: Size;
  readonly fontSize: number;
  /** Pipes have no terminal that would make \r\n of \n. */
  readonly convertEol: boolean;
  /** Nobody types here: a recording. */
  readonly isReadOnly: boolean;
  /** Whether the one who looks holds the reins; asked while output is parsed. */
  readonly mayAnswer: () => boolean;
  readonly onLink: (address: string) => void;
}

/** An xterm.js with everything that a page needs of it, and nothing that a program could do to the page. */
export class TerminalScreen implements Disposable {
  readonly terminal: Terminal;
  readonly writer: ScreenWriter;
  readonly search = new SearchAddon({ highlightLimit: SEARCH_MARKS_MOST });
  readonly guard: AnswerGuard;
  readonly #fit = new FitAddon();
  readonly #element: HTMLElement;
  readonly #document = createTerminalDocument();
  readonly #themeWatch: MutationObserver;

  constructor(options: TerminalScreenOptions) {
    const { element, size, fontSize, convertEol, isReadOnly, mayAnswer, onLink } = options;
    this.#element = element;
    const activate = (_: MouseEvent, address: string) => onLink(address);
    this.terminal = new Terminal({
      ...size,
      fontSize,
      convertEol,
      allowProposedApi: true,
      disableStdin: isReadOnly,
      documentOverride: this.#document,
      fontFamily: getComputedStyle(element).getPropertyValue("--mono").trim() || "monospace",
      cursorBlink: false,
      cursorInactiveStyle: isReadOnly ? "none" : "outline",
      linkHandler: { activate, allowNonHttpProtocols: false },
      lineHeight: LINE_HEIGHT,
      logLevel: "off",
      macOptionIsMeta: true,
      minimumContrastRatio: CONTRAST_LEAST,
      rescaleOverlappingGlyphs: true,
      scrollback: SCROLLBACK_LINES,
      theme: readTheme(element),
    });
    this.writer = new ScreenWriter(this.terminal);
    this.guard = guardAnswers(this.terminal, () => this.writer.isLive && mayAnswer());
    guardHostile(this.terminal);
    for (const addon of [this.search, this.#fit, new UnicodeGraphemesAddon()])
      this.terminal.loadAddon(addon);
    this.terminal.loadAddon(new WebLinksAddon(activate));
    openStyled(() => this.terminal.open(element));
    this.#draw();
    this.#themeWatch = new MutationObserver(() => {
      this.terminal.options.theme = readTheme(element);
    });
    this.#themeWatch.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /** The size that the element has room for, in cells. */
  proposeSize(): Size | undefined {
    const proposed = this.#fit.proposeDimensions();
    if (proposed === undefined || Number.isNaN(proposed.cols) || Number.isNaN(proposed.rows))
      return undefined;
    return proposed;
  }

  /** What the cells take up. */
  get #drawn(): { readonly width: number; readonly height: number } {
    const grid = this.#element.querySelector(".xterm-screen");
    return { width: grid?.clientWidth ?? 0, height: grid?.clientHeight ?? 0 };
  }

  /** Letters as small as they must be to see all of a screen that is not ours to resize. */
  fitLetters(wanted: number): void {
    const { clientWidth, clientHeight } = this.#element;
    if (clientWidth === 0 || clientHeight === 0) return;
    const now = this.terminal.options.fontSize ?? wanted;
    const room = { width: clientWidth - GUTTER_PX, height: clientHeight };
    const font = fitFont(now, { room, drawn: this.#drawn, wanted });
    if (font !== now) this.terminal.options.fontSize = font;
  }

  /** When everything before it is parsed. */
  async resize({ cols, rows }: Size): Promise<void> {
    await this.writer.settled();
    if (cols !== this.terminal.cols || rows !== this.terminal.rows)
      this.terminal.resize(cols, rows);
  }

  reset(): void {
    this.terminal.reset();
    this.writer.restart();
  }

  [Symbol.dispose](): void {
    this.#themeWatch.disconnect();
    this.writer[Symbol.dispose]();
    this.terminal.dispose();
  }

  /** By the graphics card where there is one; by the document where there is none, or when it is lost. */
  #draw(): void {
    styleRows(this.terminal, this.#document);
    if (!hasGraphicsCard()) return;
    const webgl = new WebglAddon();
    const withoutCard = () => {
      webgl.dispose();
      styleRows(this.terminal, this.#document);
    };
    webgl.onContextLoss(withoutCard);
    try {
      this.terminal.loadAddon(webgl);
    } catch {
      withoutCard();
    }
  }
}

const BY_PROCESSOR = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Graphics that the processor only pretends to have are slower than the document itself. */
function hasGraphicsCard(): boolean {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (context === null) return false;
  const names = context.getExtension("WEBGL_debug_renderer_info");
  const renderer = context.getParameter(names?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER);
  // Browsers have room for a few of them only.
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return !BY_PROCESSOR.test(String(renderer));
}
