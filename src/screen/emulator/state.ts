import { findDesignator } from "./charsets.ts";
import type { Emulator } from "./emulator.ts";
import {
  type Charset,
  type Core,
  type CoreBuffer,
  cellAt,
  HAS_EXTENDED_FLAG,
} from "./emulator-core.ts";
import { encodeLink } from "./links.ts";
import { isPrinted, LinePainter, lookOf } from "./painter.ts";
import { printable } from "./printable.ts";
import { encodeLook, isSameLook, type Look, PLAIN } from "./sgr.ts";

const TAB_COLUMNS = 8;
const cursorStyles: Readonly<Record<string, number>> = { block: 2, underline: 4, bar: 6 };
const mouseProtocols: Readonly<Record<string, number>> = {
  X10: 9,
  VT200: 1000,
  DRAG: 1002,
  ANY: 1003,
};
const mouseEncodings: Readonly<Record<string, number>> = { SGR: 1006, SGR_PIXELS: 1016 };
const levels = ["\x0f", "\x0e", "\x1bn", "\x1bo"];
const slots = ["(", ")", "*", "+"];

/**
 * The screen as what to write to a terminal of its size that was just reset: it then shows the same, in the same
 * modes, with the same scrollback. It asks the terminal for nothing.
 *
 * Not in it, because no sequence says it: a changed palette, synchronized output, a charset that a restored cursor
 * brought along, tab stops beyond the right margin, and a cursor behind the margin of a blank cell.
 */
export function encodeState(emulator: Emulator): string {
  const { core } = emulator;
  const { normal, alt, active } = core._bufferService.buffers;
  const isAlternate = active === alt;
  const parts = [encodeBuffer(emulator, normal, 0)];
  if (isAlternate)
    parts.push(`${cursorTo(normal)}\x1b[?47h\x1b[H`, encodeBuffer(emulator, alt, alt.ybase));
  parts.push(encodeTitle(core), encodeModes(core), encodeCursor(emulator), emulator.opening);
  return parts.join("");
}

function encodeBuffer(emulator: Emulator, buffer: CoreBuffer, from: number): string {
  const rows = Array.from({ length: buffer.lines.length - from }, (_, row) => from + row);
  const painter = new LinePainter(emulator);
  painter.paint(rows.map((row) => buffer.lines.get(row)).filter((line) => line !== undefined));
  return [
    painter.take(),
    encodeTabs(emulator, buffer),
    encodeSaved(buffer),
    encodeMargins(emulator, buffer),
  ].join("");
}

function encodeTabs({ size }: Emulator, { tabs }: CoreBuffer): string {
  const columns = Array.from({ length: size.cols }, (_, column) => column);
  if (columns.every((column) => (tabs[column] === true) === (column % TAB_COLUMNS === 0)))
    return "";
  const set = columns.filter((column) => tabs[column] === true);
  return `\x1b[3g${set.map((column) => `\x1b[${column + 1}G\x1bH`).join("")}`;
}

function encodeSaved(buffer: CoreBuffer): string {
  const { savedX, savedY, savedCurAttrData, savedCharset, ybase } = buffer;
  const look = { fg: savedCurAttrData.fg, bg: savedCurAttrData.bg, ext: 0, link: 0 };
  const row = Math.max(savedY - ybase, 0);
  if (savedX === 0 && row === 0 && isSameLook(look, PLAIN) && savedCharset === undefined) return "";
  const designator = findDesignator(savedCharset);
  return [
    `\x1b[${row + 1};${savedX + 1}H`,
    encodeLook(look),
    designator === undefined ? "\x1b7" : `\x1b(${designator}\x1b7\x1b(B`,
    encodeLook(PLAIN),
  ].join("");
}

function encodeMargins({ size }: Emulator, { scrollTop, scrollBottom }: CoreBuffer): string {
  if (scrollTop === 0 && scrollBottom === size.rows - 1) return "";
  return `\x1b[${scrollTop + 1};${scrollBottom + 1}r`;
}

function encodeCharsets({ _charsetService }: Core): string {
  const { charset, glevel, _charsets } = _charsetService;
  const at = (level: number): Charset | undefined =>
    level === glevel ? charset : _charsets[level];
  const designated = slots.map((slot, level) => {
    const designator = findDesignator(at(level));
    return designator === undefined ? "" : `\x1b${slot}${designator}`;
  });
  return `${designated.join("")}${glevel === 0 ? "" : (levels[glevel] ?? "")}`;
}

function encodeTitle({ _inputHandler }: Core): string {
  const title = printable(_inputHandler._windowTitle);
  return title === "" ? "" : `\x1b]2;${title}\x07`;
}

function encodeModes({ coreService, coreMouseService, optionsService }: Core): string {
  const modes = coreService.decPrivateModes;
  const on: readonly (readonly [boolean, string])[] = [
    [modes.applicationCursorKeys, "?1h"],
    [modes.applicationKeypad, "?66h"],
    [modes.bracketedPasteMode, "?2004h"],
    [modes.reverseWraparound, "?45h"],
    [modes.sendFocus, "?1004h"],
    [!modes.wraparound, "?7l"],
    [optionsService.options.cursorBlink, "?12h"],
    [coreService.isCursorHidden, "?25l"],
    [modes.origin, "?6h"],
  ];
  const style = modes.cursorStyle === undefined ? undefined : cursorStyles[modes.cursorStyle];
  const protocol = mouseProtocols[coreMouseService.activeProtocol];
  const encoding = mouseEncodings[coreMouseService.activeEncoding];
  return [
    ...on.filter(([isOn]) => isOn).map(([, sequence]) => `\x1b[${sequence}`),
    style === undefined ? "" : `\x1b[${style - (modes.cursorBlink === true ? 1 : 0)} q`,
    protocol === undefined ? "" : `\x1b[?${protocol}h`,
    encoding === undefined ? "" : `\x1b[?${encoding}h`,
  ].join("");
}

/** Last of all: where the next character goes, how it looks, and whether it joins the one before. */
function encodeCursor({ core, links }: Emulator): string {
  const { _inputHandler: input, coreService, _bufferService } = core;
  const buffer = _bufferService.buffers.active;
  const { fg, bg, extended } = input._curAttrData;
  // A restored cursor can leave a link open that its characters do not get.
  const link = (bg & HAS_EXTENDED_FLAG) === 0 ? 0 : extended.urlId;
  const look = { fg, bg, ext: extended._ext, link };
  const linkTo = (from: number, to: number) => (from === to ? "" : encodeLink(links.find(to)));
  const origin = coreService.decPrivateModes.origin ? buffer.scrollTop : 0;
  const insert = coreService.modes.insertMode ? "\x1b[4h" : "";
  const rest = `${encodeLook(look)}${encodeCharsets(core)}${insert}`;
  const last = lastPrinted(buffer, Math.min(buffer.x, _bufferService.cols));
  const isBehindMargin = buffer.x >= _bufferService.cols;
  // Only what needs no sequence after it.
  const joins = input._parser.precedingJoinState !== 0 && insert === "" && !hasCharset(core);
  if (last === undefined || !(isBehindMargin || joins))
    return `${cursorTo(buffer, origin)}${rest}${linkTo(0, link)}`;
  // Printed once more where it stands: only that brings the cursor behind the margin, and lets what follows join.
  const place = cursorTo({ x: last.column, y: buffer.y }, origin);
  const again = `${encodeLook(last.look)}${linkTo(0, last.look.link)}${last.chars}`;
  if (joins && isSameLook(last.look, look)) return `${encodeCharsets(core)}${place}${again}`;
  return `${place}${again}${rest}${linkTo(last.look.link, link)}`;
}

function hasCharset({ _charsetService }: Core): boolean {
  return _charsetService.charset !== undefined;
}

function cursorTo({ x, y }: { readonly x: number; readonly y: number }, origin = 0): string {
  return `\x1b[${y - origin + 1};${x + 1}H`;
}

interface LastPrinted {
  readonly column: number;
  readonly chars: string;
  readonly look: Look;
}

/** The character that ends right before a column of the cursor's row. */
function lastPrinted({ lines, y, ybase }: CoreBuffer, x: number): LastPrinted | undefined {
  const line = lines.get(ybase + y);
  if (line === undefined || x === 0) return undefined;
  const isWide = cellAt(line, x - 1).width === 0 && x > 1 && cellAt(line, x - 2).width === 2;
  const column = isWide ? x - 2 : x - 1;
  const cell = cellAt(line, column);
  const isWhole = column + Math.max(cell.width, 1) === x;
  return isWhole && isPrinted(cell) ? { column, chars: cell.chars, look: lookOf(cell) } : undefined;
}
