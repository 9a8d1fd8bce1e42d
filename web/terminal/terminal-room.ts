import type { Client } from "#client/client.ts";
import type { Session } from "#contract/session.ts";
import { settings } from "#web/live/settings.ts";
import { Store } from "#web/live/store.ts";
import { clampSize } from "#web/terminal/emulator/sizing.ts";
import { formatBytes } from "#web/ui/format.ts";
import { parseAddress } from "./addresses.ts";
import { isReport } from "./emulator/parser-guards.ts";
import { drawRemark, PipePrinter, sayGap } from "./emulator/printed.ts";
import { TerminalScreen } from "./emulator/terminal-screen.ts";
import { foundColours } from "./emulator/theme.ts";
import { heldReinsOf } from "./held-reins.ts";
import { needsLook, withoutBrackets } from "./pasting.ts";
import {
  encodeQuickKey,
  isAnyDown,
  type Modifier,
  modify,
  NO_STICKY_KEYS,
  pressModifier,
  type QuickKey,
  releaseModifiers,
  type StickyKeys,
} from "./quick-keys.ts";
import { type LinkedScreen, SessionLink } from "./session-link.ts";

/** Somebody drags the edge of a window; the child need not hear of every step. */
const FIT_MS = 80;
const FIRST_SIZE = { cols: 80, rows: 24 };

/** Something to look at before it is done. */
export type Look =
  | { readonly kind: "link"; readonly address: URL }
  | { readonly kind: "paste"; readonly text: string };

export interface Found {
  /** -1 when there are more than are counted. */
  readonly index: number;
  readonly count: number;
}

interface RoomOptions {
  readonly client: Client;
  readonly session: Session;
  readonly mayControl: boolean;
  /** What the terminal fills. */
  readonly stage: HTMLElement;
  readonly onRefusal: (sentence: string) => void;
}

/** A session on a screen in the page, with everything that people do there. */
export class TerminalRoom implements Disposable {
  readonly link: SessionLink;
  readonly look = new Store<Look | undefined>(undefined);
  readonly found = new Store<Found | undefined>(undefined);
  readonly sticky = new Store<StickyKeys>(NO_STICKY_KEYS);
  readonly hasSelection = new Store(false);
  readonly #options: RoomOptions;
  readonly #screen: TerminalScreen;
  readonly #isPipe: boolean;
  readonly #owned = new DisposableStack();
  #fitting: number | undefined;

  constructor(options: RoomOptions) {
    const { stage, session } = options;
    this.#options = options;
    this.#isPipe = session.mode === "pipe";
    this.#screen = this.#owned.use(
      new TerminalScreen({
        element: stage,
        size: FIRST_SIZE,
        fontSize: settings.get().fontSize,
        convertEol: this.#isPipe,
        isReadOnly: this.#isPipe,
        mayAnswer: () => this.#holdsReins,
        onLink: (text) => this.#lookAt(text),
      }),
    );
    const held = heldReinsOf(session.session_id);
    const screen = this.#linkedScreen();
    this.link = this.#owned.use(new SessionLink({ ...options, held, screen }));
    this.#listen();
    void this.link.run();
  }

  focus(): void {
    this.#screen.terminal.focus();
  }

  press(key: QuickKey): void {
    const { applicationCursorKeysMode } = this.#screen.terminal.modes;
    const applicationCursor = applicationCursorKeysMode;
    this.link.type(encodeQuickKey(key, this.sticky.get(), { applicationCursor }));
    this.sticky.change(releaseModifiers);
  }

  pressModifier(modifier: Modifier): void {
    this.sticky.change((sticky) => pressModifier(sticky, modifier));
  }

  /** Copies what is selected, or nothing. */
  async copy(): Promise<void> {
    const text = this.#screen.terminal.getSelection();
    if (text !== "") await this.#clipboard(() => navigator.clipboard.writeText(text));
  }

  /** The screen and what has scrolled out of it, with long lines as they were printed. */
  async copyAll(): Promise<void> {
    const { terminal } = this.#screen;
    terminal.selectAll();
    await this.copy();
    terminal.clearSelection();
  }

  async paste(): Promise<void> {
    await this.#clipboard(async () => this.insert(await navigator.clipboard.readText()));
  }

  /** As a paste; several lines are looked at first where each would be run at once. */
  insert(text: string): void {
    if (text === "") return;
    const isBracketed = this.#screen.terminal.modes.bracketedPasteMode;
    if (this.#holdsReins && needsLook(text, { isBracketed }))
      this.look.set({ kind: "paste", text });
    else this.insertNow(text);
  }

  insertNow(text: string): void {
    this.#screen.terminal.paste(withoutBrackets(text));
    this.focus();
  }

  find(text: string, direction: "next" | "previous" | "here"): void {
    const { search } = this.#screen;
    const options = { decorations: foundColours, incremental: direction === "here" };
    if (text === "") this.endSearch();
    else if (direction === "previous") search.findPrevious(text, options);
    else search.findNext(text, options);
  }

  endSearch(): void {
    this.#screen.search.clearDecorations();
    this.#screen.terminal.clearSelection();
    this.found.set(undefined);
  }

  scrollToEnd(): void {
    this.#screen.terminal.scrollToBottom();
  }

  /** Says what is on now. */
  toggleScreenReader(): boolean {
    const { options } = this.#screen.terminal;
    options.screenReaderMode = options.screenReaderMode !== true;
    return options.screenReaderMode;
  }

  [Symbol.dispose](): void {
    window.clearTimeout(this.#fitting);
    this.#owned.dispose();
  }

  get #holdsReins(): boolean {
    return this.link.state.get().role === "controller";
  }

  #linkedScreen(): LinkedScreen {
    const screen = this.#screen;
    const { terminal, writer } = screen;
    const pipes = new PipePrinter();
    const remark = async (text: string) => {
      await writer.settled();
      const isAlternate = terminal.buffer.active.type === "alternate";
      await writer.write(drawRemark(text, { isAlternate }), { isLive: false });
    };
    return {
      begin: async (size) => {
        screen.reset();
        await screen.resize(size);
        this.#fitSoon();
      },
      paint: (state) => writer.write(state, { isLive: false }),
      print: (bytes, { channel, isLive }) =>
        writer.write(this.#isPipe ? pipes.print(bytes, channel) : bytes, { isLive }),
      resize: async (size) => {
        await screen.resize(size);
        this.#fitSoon();
      },
      gap: (bytes) => remark(sayGap(bytes)),
      skip: (bytes) => remark(`${formatBytes(bytes)} left out to keep up, the log has them`),
      end: () => writer.settled(),
    };
  }

  #listen(): void {
    const { terminal, search } = this.#screen;
    const { stage } = this.#options;
    terminal.onData((data) => this.#typed(data));
    terminal.onBinary((data) => {
      if (this.#holdsReins) this.link.type(Uint8Array.from(data, (char) => char.charCodeAt(0)));
    });
    terminal.onSelectionChange(() => this.hasSelection.set(terminal.hasSelection()));
    // Who only watches leaves the terminal by Tab, as any other part of a page.
    terminal.attachCustomKeyEventHandler(({ key }) => key !== "Tab" || this.#holdsReins);
    search.onDidChangeResults(({ resultIndex, resultCount }) =>
      this.found.set({ index: resultIndex, count: resultCount }),
    );
    const onPaste = (event: ClipboardEvent) => {
      event.preventDefault();
      event.stopPropagation();
      this.insert(event.clipboardData?.getData("text/plain") ?? "");
    };
    stage.addEventListener("paste", onPaste, { capture: true });
    const sizes = new ResizeObserver(() => this.#fitSoon());
    sizes.observe(stage);
    this.#owned.defer(() => sizes.disconnect());
    this.#owned.defer(() => stage.removeEventListener("paste", onPaste, { capture: true }));
    this.#owned.defer(settings.subscribe(() => this.#fitSoon()));
    this.#owned.defer(this.#onRole());
  }

  /** The one who takes the reins sits down at the keyboard; on a phone it would cover half of the screen. */
  #onRole(): () => void {
    let wasHeld = false;
    return this.link.state.subscribe(() => {
      const isHeld = this.#holdsReins;
      if (isHeld === wasHeld) return;
      wasHeld = isHeld;
      this.#fitSoon();
      if (isHeld && window.matchMedia("(pointer: fine)").matches) this.focus();
    });
  }

  #typed(data: string): void {
    if (this.#screen.guard.swallows(data)) return;
    if (!this.#holdsReins && isReport(data)) return;
    const sticky = this.sticky.get();
    this.link.type(isAnyDown(sticky) ? modify(data, sticky) : data);
    if (!isReport(data)) this.sticky.change(releaseModifiers);
  }

  #fitSoon(): void {
    this.#fitting ??= window.setTimeout(() => {
      this.#fitting = undefined;
      this.#fit();
    }, FIT_MS);
  }

  /** Whoever holds the reins gives the child the size of the page; everybody else sees the child's size, made to fit. */
  #fit(): void {
    const { terminal } = this.#screen;
    const { stage } = this.#options;
    const { fontSize } = settings.get();
    if (stage.clientWidth === 0 || stage.clientHeight === 0) return;
    if (this.#isPipe || this.#holdsReins) {
      if (terminal.options.fontSize !== fontSize) terminal.options.fontSize = fontSize;
      const proposed = this.#screen.proposeSize();
      if (proposed === undefined) return;
      if (this.#isPipe) void this.#screen.resize(clampSize(proposed));
      else this.link.want(clampSize(proposed));
      return;
    }
    this.#screen.fitLetters(fontSize);
  }

  #lookAt(text: string): void {
    const address = parseAddress(text);
    if (address === undefined)
      this.#options.onRefusal("Only links that begin with http or https can be opened.");
    else this.look.set({ kind: "link", address });
  }

  /** Browsers may refuse, and say so only then. */
  async #clipboard(use: () => Promise<void>): Promise<void> {
    try {
      await use();
    } catch {
      this.#options.onRefusal("The browser does not let this page use the clipboard.");
    }
  }
}
