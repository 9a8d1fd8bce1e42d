import { Emulator, type EmulatorOptions } from "./emulator.ts";
import {
  CELL_WORDS,
  type Charset,
  type CoreBuffer,
  type CoreLine,
  type ExtendedAttributes,
  type PrivateModes,
} from "./emulator-core.ts";

/**
 * Everything that an emulator is in, word for word, so that one made of it goes on exactly as the first would have.
 * Escape sequences could not say all of it: a saved charset, margins below a saved cursor, what half of a wide
 * character leaves behind. `link` is new in format 3; so are `links` and `dropped`.
 */
export interface Snapshot extends EmulatorOptions {
  readonly join: number;
  readonly title: string;
  readonly iconName: string;
  readonly attributes: readonly [fg: number, bg: number, ext: number];
  /** The number of the link that is open. */
  readonly link?: number;
  readonly isCursorHidden: boolean;
  readonly isCursorInitialized: boolean;
  readonly cursorBlink: boolean;
  readonly insertMode: boolean;
  readonly modes: Partial<PrivateModes>;
  readonly mouse: readonly [protocol: string, encoding: string];
  readonly charset: Charset | null;
  readonly level: number;
  readonly charsets: readonly (Charset | null)[];
  readonly isAlternate: boolean;
  readonly normal: BufferSnapshot;
  readonly alternate: BufferSnapshot;
}

export interface BufferSnapshot {
  readonly x: number;
  readonly y: number;
  readonly ybase: number;
  readonly margins: readonly [top: number, bottom: number];
  readonly tabs: readonly number[];
  readonly saved: readonly [x: number, y: number, fg: number, bg: number];
  readonly savedCharset: Charset | null;
  /** How many lines there is room for: an alternate buffer that was resized while it was empty has its old room. */
  readonly room: number;
  readonly lines: readonly LineSnapshot[];
  /** Of all lines, one behind the other. */
  readonly cells: Uint32Array;
}

interface LineSnapshot {
  readonly length: number;
  readonly isWrapped: boolean;
  readonly combined: Readonly<Record<number, string>>;
  readonly ext: Readonly<Record<number, number>>;
  /** Numbers of links, by column. */
  readonly links?: Readonly<Record<number, number>>;
}

/** Only at rest: what stands half in the parser is not in it. */
export function takeSnapshot(emulator: Emulator, convertEol: boolean): Snapshot {
  const { core } = emulator;
  const { _inputHandler: input, _charsetService: charsets, coreService } = core;
  const { normal, alt, active } = core._bufferService.buffers;
  const current = input._curAttrData;
  return {
    size: emulator.size,
    convertEol,
    join: input._parser.precedingJoinState,
    title: input._windowTitle,
    iconName: input._iconName,
    attributes: [current.fg, current.bg, current.extended._ext],
    link: current.extended.urlId,
    links: emulator.links.list(),
    dropped: emulator.dropped,
    isCursorHidden: coreService.isCursorHidden,
    isCursorInitialized: coreService.isCursorInitialized,
    cursorBlink: core.optionsService.options.cursorBlink,
    insertMode: coreService.modes.insertMode,
    modes: { ...coreService.decPrivateModes },
    mouse: [core.coreMouseService.activeProtocol, core.coreMouseService.activeEncoding],
    charset: charsets.charset ?? null,
    level: charsets.glevel,
    charsets: Array.from({ length: 4 }, (_, level) => charsets._charsets[level] ?? null),
    isAlternate: active === alt,
    normal: snapBuffer(normal),
    alternate: snapBuffer(alt),
  };
}

export function openFromSnapshot(snapshot: Snapshot): Emulator {
  const emulator = new Emulator(snapshot);
  const { core } = emulator;
  const { _inputHandler: input, _charsetService: charsets, coreService } = core;
  const { buffers } = core._bufferService;
  if (snapshot.isAlternate) buffers.activateAltBuffer();
  const [fg, bg, ext] = snapshot.attributes;
  const current = input._curAttrData;
  const makeExtended = (word: number, link = 0) => extendedLike(current.extended, word, link);
  fillBuffer(buffers.normal, snapshot.normal, makeExtended);
  fillBuffer(buffers.alt, snapshot.alternate, makeExtended);
  Object.assign(current, { fg, bg, extended: makeExtended(ext, snapshot.link) });
  input._parser.precedingJoinState = snapshot.join;
  input._windowTitle = snapshot.title;
  input._iconName = snapshot.iconName;
  coreService.isCursorHidden = snapshot.isCursorHidden;
  coreService.isCursorInitialized = snapshot.isCursorInitialized;
  core.optionsService.options.cursorBlink = snapshot.cursorBlink;
  coreService.modes.insertMode = snapshot.insertMode;
  Object.assign(coreService.decPrivateModes, snapshot.modes);
  [core.coreMouseService.activeProtocol, core.coreMouseService.activeEncoding] = snapshot.mouse;
  charsets._charsets = snapshot.charsets.map((charset) => charset ?? undefined);
  charsets.glevel = snapshot.level;
  charsets.charset = snapshot.charset ?? undefined;
  return emulator;
}

function snapBuffer(buffer: CoreBuffer): BufferSnapshot {
  const lines = Array.from({ length: buffer.lines.length }, (_, row) => buffer.lines.get(row));
  const present = lines.filter((line) => line !== undefined);
  const words = present.reduce((sum, line) => sum + line.length * CELL_WORDS, 0);
  const cells = new Uint32Array(words);
  let at = 0;
  for (const line of present) {
    cells.set(line._data.subarray(0, line.length * CELL_WORDS), at);
    at += line.length * CELL_WORDS;
  }
  const { savedX, savedY, savedCurAttrData } = buffer;
  return {
    x: buffer.x,
    y: buffer.y,
    ybase: buffer.ybase,
    margins: [buffer.scrollTop, buffer.scrollBottom],
    tabs: Object.keys(buffer.tabs)
      .map(Number)
      .filter((column) => buffer.tabs[column] === true),
    saved: [savedX, savedY, savedCurAttrData.fg, savedCurAttrData.bg],
    savedCharset: buffer.savedCharset ?? null,
    room: buffer.lines.maxLength,
    lines: present.map((line) => snapLine(line)),
    cells,
  };
}

function snapLine(line: CoreLine): LineSnapshot {
  const ext: Record<number, number> = {};
  const links: Record<number, number> = {};
  for (const [column, attributes] of Object.entries(line._extendedAttrs)) {
    if (attributes === undefined) continue;
    ext[Number(column)] = attributes._ext;
    if (attributes.urlId !== 0) links[Number(column)] = attributes.urlId;
  }
  const { length, isWrapped } = line;
  return { length, isWrapped, combined: { ...line._combined }, ext, links };
}

function fillBuffer(
  buffer: CoreBuffer,
  snapshot: BufferSnapshot,
  makeExtended: (ext: number, link?: number) => ExtendedAttributes,
): void {
  while (buffer.lines.length > 0) buffer.lines.pop();
  buffer.lines.maxLength = snapshot.room;
  let at = 0;
  for (const from of snapshot.lines) {
    const line = buffer.getBlankLine(buffer.savedCurAttrData);
    if (line.length !== from.length) line.resize(from.length, buffer.getNullCell());
    const words = from.length * CELL_WORDS;
    line._data.set(snapshot.cells.subarray(at, at + words));
    at += words;
    line.isWrapped = from.isWrapped;
    Object.assign(line._combined, from.combined);
    for (const [column, ext] of Object.entries(from.ext))
      line._extendedAttrs[Number(column)] = makeExtended(ext, from.links?.[Number(column)]);
    buffer.lines.push(line);
  }
  const { x, y, ybase } = snapshot;
  const [scrollTop, scrollBottom] = snapshot.margins;
  const [savedX, savedY, fg, bg] = snapshot.saved;
  const tabs = Object.fromEntries(snapshot.tabs.map((column) => [column, true]));
  const savedCharset = snapshot.savedCharset ?? undefined;
  Object.assign(buffer, { x, y, ybase, ydisp: ybase, scrollTop, scrollBottom, tabs });
  Object.assign(buffer, { savedX, savedY, savedCharset });
  Object.assign(buffer.savedCurAttrData, { fg, bg });
}

function extendedLike(like: ExtendedAttributes, ext: number, link: number): ExtendedAttributes {
  const made = like.clone();
  made._ext = ext;
  made.urlId = link;
  return made;
}
