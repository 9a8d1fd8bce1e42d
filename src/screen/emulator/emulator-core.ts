import type { Terminal } from "@xterm/headless";

/**
 * What lies inside an emulator, of which its own interface shows too little to go on from: the shape of
 * `@xterm/headless` 6.0.0. Whoever raises that version checks these and raises `SNAPSHOT_FORMAT`; the tests compare
 * restored emulators with ones that were fed from the start, so a field that moved does not go unnoticed.
 */
export interface Core {
  readonly _bufferService: {
    readonly cols: number;
    readonly rows: number;
    readonly buffers: {
      readonly normal: CoreBuffer;
      readonly alt: CoreBuffer;
      readonly active: CoreBuffer;
      activateAltBuffer(): void;
    };
  };
  readonly _charsetService: {
    charset: Charset | undefined;
    glevel: number;
    _charsets: (Charset | undefined)[];
  };
  readonly coreService: {
    isCursorHidden: boolean;
    isCursorInitialized: boolean;
    modes: { insertMode: boolean };
    decPrivateModes: PrivateModes;
  };
  readonly coreMouseService: { activeProtocol: string; activeEncoding: string };
  readonly optionsService: { readonly options: { cursorBlink: boolean } };
  readonly _inputHandler: CoreInput;
  writeSync(data: Uint8Array | string): void;
}

export type Charset = Readonly<Record<string, string>>;

export interface PrivateModes {
  applicationCursorKeys: boolean;
  applicationKeypad: boolean;
  bracketedPasteMode: boolean;
  cursorBlink: boolean | undefined;
  cursorStyle: string | undefined;
  origin: boolean;
  reverseWraparound: boolean;
  sendFocus: boolean;
  synchronizedOutput: boolean;
  wraparound: boolean;
}

interface CoreInput {
  readonly _parser: { precedingJoinState: number };
  readonly _curAttrData: CoreAttributes & {
    extended: ExtendedAttributes;
    updateExtended(): void;
  };
  _windowTitle: string;
  _iconName: string;
  insertLines(params: CoreParams): boolean;
  deleteLines(params: CoreParams): boolean;
  scrollUp(params: CoreParams): boolean;
  scrollDown(params: CoreParams): boolean;
  cursorForwardTab(params: CoreParams): boolean;
  cursorBackwardTab(params: CoreParams): boolean;
  repeatPrecedingCharacter(params: CoreParams): boolean;
  eraseInDisplay(params: CoreParams, respectProtect: boolean): boolean;
  eraseInLine(params: CoreParams, respectProtect: boolean): boolean;
}

export interface CoreParams {
  readonly params: readonly number[];
  readonly length: number;
}

/** Two words: colours in the lower 26 bits, flags above. */
interface CoreAttributes {
  fg: number;
  bg: number;
}

export interface ExtendedAttributes {
  /** Underlines. Its getter `ext` says dashed for every link. */
  _ext: number;
  /** The number of a link; 0 = none. */
  urlId: number;
  clone(): ExtendedAttributes;
}

export interface CoreBuffer {
  readonly lines: {
    readonly length: number;
    maxLength: number;
    get(index: number): CoreLine | undefined;
    push(line: CoreLine): void;
    pop(): CoreLine | undefined;
  };
  x: number;
  y: number;
  ybase: number;
  ydisp: number;
  scrollTop: number;
  scrollBottom: number;
  tabs: Record<number, boolean | undefined>;
  savedX: number;
  savedY: number;
  readonly savedCurAttrData: CoreAttributes;
  savedCharset: Charset | undefined;
  getBlankLine(attributes: CoreAttributes): CoreLine;
  getNullCell(): object;
}

export interface CoreLine {
  readonly length: number;
  /** Three words a cell: content, foreground, background. */
  readonly _data: Uint32Array;
  readonly _combined: Record<number, string>;
  readonly _extendedAttrs: Record<number, ExtendedAttributes | undefined>;
  isWrapped: boolean;
  resize(cols: number, fill: object): boolean;
  addCodepointToCell(column: number, codepoint: number, width: number): void;
}

export const CELL_WORDS = 3;
const CODEPOINT_MASK = 0x1fffff;
const COMBINED_FLAG = 0x200000;
const WIDTH_SHIFT = 22;
export const HAS_EXTENDED_FLAG = 0x10000000;
/** A cell with its combining characters: more of them are not text, but take room. */
export const COMBINED_CHARS = 64;

export interface Cell {
  /** Empty for a cell that nothing was printed to, and for the second half of a wide one. */
  readonly chars: string;
  readonly width: number;
  readonly fg: number;
  readonly bg: number;
  readonly ext: number;
  /** The number of a link; 0 = none. */
  readonly link: number;
}

export function coreOf(terminal: Terminal): Core {
  // The only way in: the published interface has neither the saved cursor nor the tab stops, margins or charsets.
  return (terminal as unknown as { readonly _core: Core })._core;
}

/** Without it an entry in `_combined` is what an earlier character left behind. */
export function isCombined(line: CoreLine, column: number): boolean {
  return ((line._data[column * CELL_WORDS] ?? 0) & COMBINED_FLAG) !== 0;
}

export function cellAt(line: CoreLine, column: number): Cell {
  const at = column * CELL_WORDS;
  const content = line._data[at] ?? 0;
  const codepoint = content & CODEPOINT_MASK;
  const bg = line._data[at + 2] ?? 0;
  const plain = codepoint === 0 ? "" : String.fromCodePoint(codepoint);
  // Without the flag an entry is what an earlier character left behind.
  const extended = (bg & HAS_EXTENDED_FLAG) === 0 ? undefined : line._extendedAttrs[column];
  return {
    chars: isCombined(line, column)
      ? (line._combined[column] ?? "").slice(0, COMBINED_CHARS)
      : plain,
    width: content >>> WIDTH_SHIFT,
    fg: line._data[at + 1] ?? 0,
    bg,
    ext: extended === undefined ? 0 : extended._ext,
    link: extended?.urlId ?? 0,
  };
}
