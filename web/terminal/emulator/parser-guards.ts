import type { Terminal } from "@xterm/xterm";

type CsiParams = readonly (number | number[])[];
type Parser = Pick<Terminal["parser"], "registerCsiHandler"> &
  Pick<Terminal["parser"], "registerOscHandler" | "registerDcsHandler">;
interface Guarded {
  readonly parser: Parser;
}

/** Sequences that ask the terminal for an answer, which it would type. */
const QUERIES = [
  { final: "c" },
  { prefix: ">", final: "c" },
  { final: "n" },
  { prefix: "?", final: "n" },
  { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" },
  { final: "t" },
] as const;
/** Colours: set by the same sequence that asks for them. */
const COLOUR_QUERIES = [4, 10, 11, 12] as const;
const FOCUS_MODE = 1004;
const FOCUS_REPORT = /^\x1b\[[IO]$/;

export interface AnswerGuard {
  /** True once for the report that an old sequence has caused: it is not what anybody did. */
  swallows(typed: string): boolean;
}

/**
 * Old output is shown again and again, and must type nothing: its questions were asked of somebody else, or answered
 * long ago. `mayAnswer` is asked while the sequence is parsed.
 */
export function guardAnswers({ parser }: Guarded, mayAnswer: () => boolean): AnswerGuard {
  let isReporting = false;
  const isRefused = () => !mayAnswer();
  for (const query of QUERIES) parser.registerCsiHandler(query, isRefused);
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, isRefused);
  for (const query of COLOUR_QUERIES)
    parser.registerOscHandler(query, (text) => text.includes("?") && isRefused());
  // The mode is set, but that it reports at once whether it has the focus is an answer as well.
  parser.registerCsiHandler({ prefix: "?", final: "h" }, (params) => {
    isReporting = params.includes(FOCUS_MODE) && isRefused();
    return false;
  });
  return {
    swallows: (typed) => {
      const isOld = isReporting && FOCUS_REPORT.test(typed);
      isReporting = false;
      return isOld;
    },
  };
}

/** What a terminal that somebody looks at says by itself; nobody has typed it. */
export function isReport(typed: string): boolean {
  return FOCUS_REPORT.test(typed) || /^\x1b\[(?:<|M)/.test(typed);
}

/** As far as any program means it. */
const COUNT_MOST = 10_000;
const LINK_CHARS = 4096;
/** At a time; those of lines that have scrolled away do not count. */
const LINKS_MOST = 4096;
/** The most combining characters of one cell: more of them are not text, but take room. */
const COMBINED_CHARS = 64;
const COUNTED = ["L", "M", "S", "T", "I", "Z", "b", "@", "P", "X"] as const;

/** Inside of xterm.js 6.0.0: what is needed to erase without it throwing, and what has no bound of its own. */
interface Core {
  readonly _bufferService: { readonly cols: number };
  readonly _oscLinkService: { readonly _dataByLinkId: ReadonlyMap<number, unknown> };
  readonly buffers: {
    readonly active: { x: number; y: number; readonly lines: { get(row: number): unknown } };
  };
  readonly _inputHandler: {
    eraseInDisplay(params: CoreParams, respectProtect: boolean): boolean;
    eraseInLine(params: CoreParams, respectProtect: boolean): boolean;
  };
}
interface CoreParams {
  readonly params: readonly number[];
  readonly length: number;
}
const ABOVE: CoreParams = { params: [1], length: 1 };

/**
 * A few sequences make the emulator count to two thousand million or throw, and the page would stand still with it.
 * Counts beyond all reason are left out; the erasing that throws is done in two steps.
 */
export function guardHostile(terminal: Guarded): void {
  const { parser } = terminal;
  for (const final of COUNTED)
    parser.registerCsiHandler({ final }, (params) => firstOf(params) > COUNT_MOST);
  // Not honoured, whatever is loaded into the emulator: a program does not write to the clipboard.
  parser.registerOscHandler(52, () => true);
  // Its own interface does not show its buffer's inside; the version is pinned, and a test erases there.
  const core = (terminal as unknown as { readonly _core: Core })._core;
  // Addresses are kept beside the screen. The end of a link, `;`, is never left out.
  const hasRoom = () => core._oscLinkService._dataByLinkId.size < LINKS_MOST;
  parser.registerOscHandler(8, (text) => text.length > LINK_CHARS || (text !== ";" && !hasRoom()));
  guardCombining(core);
  const erase = (params: CsiParams, respectProtect: boolean) =>
    firstOf(params) === 1 && eraseAbove(core, respectProtect);
  parser.registerCsiHandler({ final: "J" }, (params) => erase(params, false));
  parser.registerCsiHandler({ prefix: "?", final: "J" }, (params) => erase(params, true));
}

/** Three words a cell. Without the flag in the first, an entry in `_combined` is of an earlier character. */
const CELL_WORDS = 3;
const COMBINED_FLAG = 0x200000;

interface Line {
  readonly _data: Uint32Array;
  readonly _combined: Readonly<Record<number, string | undefined>>;
  addCodepointToCell(column: number, codepoint: number, width: number): void;
}

const guarded = new WeakSet<object>();

/** Combining characters without end on one cell would take memory without end. All lines share one prototype. */
function guardCombining(core: Core): void {
  const lines: Line = Object.getPrototypeOf(core.buffers.active.lines.get(0));
  if (guarded.has(lines)) return;
  guarded.add(lines);
  const add = lines.addCodepointToCell;
  lines.addCodepointToCell = function (column, codepoint, width) {
    const isCombined = ((this._data[column * CELL_WORDS] ?? 0) & COMBINED_FLAG) !== 0;
    const length = isCombined ? (this._combined[column]?.length ?? 0) : 0;
    if (length < COMBINED_CHARS) add.call(this, column, codepoint, width);
  };
}

/** Up to the last cell of the last row: the emulator would look for a row below it. */
function eraseAbove(core: Core, respectProtect: boolean): boolean {
  const { active } = core.buffers;
  const isAtEnd = active.x + 1 >= core._bufferService.cols;
  if (!isAtEnd || active.lines.get(active.y + 1) !== undefined) return false;
  const { x } = active;
  active.x = 0;
  core._inputHandler.eraseInDisplay(ABOVE, respectProtect);
  active.x = x;
  return core._inputHandler.eraseInLine(ABOVE, respectProtect);
}

function firstOf(params: CsiParams): number {
  const [first] = params;
  return typeof first === "number" ? first : 0;
}
