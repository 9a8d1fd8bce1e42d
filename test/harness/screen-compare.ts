import type { Emulator } from "#screen/emulator/emulator.ts";
import { type CoreBuffer, cellAt } from "#screen/emulator/emulator-core.ts";
import { printableCell } from "#screen/emulator/painter.ts";
import { type Look, underlineOf } from "#screen/emulator/sgr.ts";
import { takeSnapshot } from "#screen/emulator/snapshot.ts";

const COLOUR_MASK = 0x3ffffff;
const EXTENDED_FLAG = 0x10000000;
const UNDERLINE_FLAG = 0x10000000;
const MODE_MASK = 0x3000000;
const RGB = 0x3000000;

/** Everything, to be compared with what must be the same to the last bit. */
export function wholeOf(emulator: Emulator): unknown {
  const { normal, alternate, ...rest } = takeSnapshot(emulator, false);
  const readable = ({ cells, lines, ...buffer }: typeof normal) => ({
    ...buffer,
    lines: lines.map(({ length, isWrapped, combined }) => ({ length, isWrapped, combined })),
    cells: Buffer.from(cells.buffer).toString("latin1"),
  });
  return { ...rest, normal: readable(normal), alternate: readable(alternate) };
}

/** Everything that a painted terminal can have in common with the one that was painted. */
export function visibleOf(emulator: Emulator): unknown {
  const { core, size } = emulator;
  const { normal, alt, active } = core._bufferService.buffers;
  const { modes, decPrivateModes, isCursorHidden } = core.coreService;
  const { fg, bg, extended } = core._inputHandler._curAttrData;
  const { synchronizedOutput: _, ...kept } = decPrivateModes;
  return {
    size,
    isAlternate: active === alt,
    normal: visibleBuffer(emulator, normal, 0),
    alternate: active === alt ? visibleBuffer(emulator, alt, alt.ybase) : undefined,
    cursor: [columnOf(emulator, active), active.y, isCursorHidden],
    look: lookOf({ fg, bg, ext: extended._ext }),
    link: (bg & EXTENDED_FLAG) === 0 ? undefined : emulator.links.find(extended.urlId),
    insert: modes.insertMode,
    modes: kept,
    blink: core.optionsService.options.cursorBlink,
    mouse: [core.coreMouseService.activeProtocol, core.coreMouseService.activeEncoding],
    charset: core._charsetService.charset,
    level: core._charsetService.glevel,
    title: core._inputHandler._windowTitle,
  };
}

function visibleBuffer({ size, links }: Emulator, buffer: CoreBuffer, from: number): unknown {
  const lines = Array.from({ length: buffer.lines.length - from }, (_, row) => {
    const line = buffer.lines.get(from + row);
    if (line === undefined) return "";
    const cells = Array.from({ length: size.cols }, (_cell, column) => {
      const { chars, width, ...look } = printableCell(line, column, size.cols);
      // What erasing cannot leave behind no painter can.
      if (chars === "") return `_${colourOf(look.bg & COLOUR_MASK)}`;
      return [chars, width, lookOf(look), links.find(look.link)?.address].join(".");
    });
    // The line that the first one went on from is gone, and on a single row nobody can go back up to mend it.
    const isWrapped = line.isWrapped && row > 0 && size.rows > 1;
    return `${isWrapped ? "+" : " "}${cells.join("|")}`;
  });
  const tabs = Array.from({ length: size.cols }, (_, column) => buffer.tabs[column] === true);
  return {
    lines,
    margins: [buffer.scrollTop, buffer.scrollBottom],
    tabs,
    saved: [
      Math.min(buffer.savedX, size.cols - 1),
      Math.max(buffer.savedY - buffer.ybase, 0),
      lookOf({
        fg: buffer.savedCurAttrData.fg,
        bg: buffer.savedCurAttrData.bg & ~EXTENDED_FLAG,
        ext: 0,
      }),
    ],
    savedCharset: buffer.savedCharset,
  };
}

/** Behind the margin only where there is a character to print once more. */
function columnOf({ size }: Emulator, { x, y, ybase, lines }: CoreBuffer): number {
  const line = lines.get(ybase + y);
  if (line === undefined || x < size.cols) return x;
  const { chars, width } = cellAt(line, size.cols - 1);
  const isPrinted = width === 0 ? cellAt(line, size.cols - 2).width === 2 : chars !== "";
  return isPrinted ? size.cols : size.cols - 1;
}

function lookOf(look: Omit<Look, "link">): string {
  const { fg, bg, ext } = look;
  const colours = [colourOf(fg & ~UNDERLINE_FLAG), colourOf(bg & ~EXTENDED_FLAG)];
  return [...colours, underlineOf(look), colourOf(ext & COLOUR_MASK)].join(".");
}

/** A palette colour that follows a true one keeps bits of it that mean nothing. */
function colourOf(word: number): number {
  const mode = word & MODE_MASK;
  if (mode === RGB) return word >>> 0;
  return (word & (mode === 0 ? ~COLOUR_MASK : ~0xffff00)) >>> 0;
}
