import type { Terminal } from "@xterm/headless";
import {
  COMBINED_CHARS,
  type Core,
  type CoreLine,
  type CoreParams,
  coreOf,
  isCombined,
} from "./emulator-core.ts";
import { type LinkTable, parseLink } from "./links.ts";

type CsiParams = readonly (number | number[])[];

/**
 * A few sequences make the emulator count to two thousand million, allocate as much, or throw. They are answered here
 * with the same effect, within bounds; all others take their usual way.
 */
export function guardEmulator(terminal: Terminal, links: LinkTable): void {
  const core = coreOf(terminal);
  const input = core._inputHandler;
  const clamp = (final: string, most: () => number, run: (params: CoreParams) => boolean) =>
    terminal.parser.registerCsiHandler({ final }, (params) => {
      const count = firstOf(params);
      return count > most() && run(paramsOf(most()));
    });
  const rows = () => core._bufferService.rows;
  const cols = () => core._bufferService.cols;
  // Beyond a screenful they only replace blank lines by blank lines.
  clamp("L", rows, (params) => input.insertLines(params));
  clamp("M", rows, (params) => input.deleteLines(params));
  clamp("S", rows, (params) => input.scrollUp(params));
  clamp("T", rows, (params) => input.scrollDown(params));
  clamp("I", cols, (params) => input.cursorForwardTab(params));
  clamp("Z", cols, (params) => input.cursorBackwardTab(params));
  terminal.parser.registerCsiHandler({ final: "b" }, (params) => {
    const count = firstOf(params);
    const screenful = cols() * rows();
    if (count <= screenful) return false;
    // The same column at the end, and a screen full of it; only the scrollback gets less.
    return input.repeatPrecedingCharacter(paramsOf(screenful + (count % cols())));
  });
  guardErase(terminal, core);
  guardCombining(core);
  // The emulator keeps every link that was ever opened on a row, each with a marker.
  terminal.parser.registerOscHandler(8, (payload) => {
    const link = parseLink(payload);
    if (link !== "unknown") setLink(core, link === undefined ? 0 : links.open(link));
    return true;
  });
}

function setLink({ _inputHandler: { _curAttrData: current } }: Core, number: number): void {
  current.extended = current.extended.clone();
  current.extended.urlId = number;
  current.updateExtended();
}

const guardedLines = new WeakSet<object>();

/** Combining characters without end on one cell would take memory without end. All lines share one prototype. */
function guardCombining(core: Core): void {
  const { normal } = core._bufferService.buffers;
  const lines: CoreLine = Object.getPrototypeOf(normal.getBlankLine(normal.savedCurAttrData));
  if (guardedLines.has(lines)) return;
  guardedLines.add(lines);
  const add = lines.addCodepointToCell;
  lines.addCodepointToCell = function (column, codepoint, width) {
    const combined = this._combined[column] ?? "";
    // A surrogate pair is never cut.
    if (isCombined(this, column) && combined.length >= COMBINED_CHARS - 1) return;
    add.call(this, column, codepoint, width);
  };
}

/** Erasing up to the last cell of the last row looks for a row below it, and throws when there is none. */
function guardErase(terminal: Terminal, core: Core): void {
  const input = core._inputHandler;
  const eraseAbove = (params: CsiParams, respectProtect: boolean): boolean => {
    if (firstOf(params) !== 1) return false;
    const buffer = core._bufferService.buffers.active;
    const isAtEnd = buffer.x + 1 >= core._bufferService.cols;
    if (!isAtEnd || buffer.lines.get(buffer.y + 1) !== undefined) return false;
    const { x } = buffer;
    buffer.x = 0;
    input.eraseInDisplay(paramsOf(1), respectProtect);
    buffer.x = x;
    return input.eraseInLine(paramsOf(1), respectProtect);
  };
  const { parser } = terminal;
  parser.registerCsiHandler({ final: "J" }, (params) => eraseAbove(params, false));
  parser.registerCsiHandler({ prefix: "?", final: "J" }, (params) => eraseAbove(params, true));
}

function firstOf(params: CsiParams): number {
  const [first] = params;
  return typeof first === "number" ? first : 0;
}

function paramsOf(first: number): CoreParams {
  return { params: [first], length: 1 };
}
