/** How a cell looks, in the emulator's words, and as the sequence that makes the next cells look so. */
export interface Look {
  readonly fg: number;
  readonly bg: number;
  readonly ext: number;
  /** The number of a link; 0 = none. Not in the sequence for colors. */
  readonly link: number;
}

export const PLAIN: Look = { fg: 0, bg: 0, ext: 0, link: 0 };

const COLOUR_MASK = 0x3ffffff;
const MODE_MASK = 0x3000000;
const PALETTE_16 = 0x1000000;
const PALETTE_256 = 0x2000000;
const BRIGHT = 8;

const UNDERLINE_FLAG = 0x10000000;
const HAS_EXTENDED_FLAG = 0x10000000;
const PROTECTED_FLAG = 0x20000000;
const UNDERLINE_STYLE_SHIFT = 26;
const UNDERLINE_STYLE_MASK = 0x7;

const fgFlags: readonly (readonly [flag: number, code: number])[] = [
  [0x4000000, 7],
  [0x8000000, 1],
  [0x20000000, 5],
  [0x40000000, 8],
  [0x80000000, 9],
];
const bgFlags: readonly (readonly [flag: number, code: number])[] = [
  [0x4000000, 3],
  [0x8000000, 2],
  [0x40000000, 53],
];

export function isSameLook(a: Look, b: Look): boolean {
  return a.fg === b.fg && a.bg === b.bg && a.ext === b.ext && a.link === b.link;
}

/** What erasing leaves behind: the colour of the background, nothing else. */
export function blankOf({ bg }: Pick<Look, "bg">): Look {
  return { fg: 0, bg: bg & COLOUR_MASK, ext: 0, link: 0 };
}

/** From whatever the look is now. */
export function encodeLook(look: Look): string {
  const codes = [
    "0",
    ...fgFlags.filter(([flag]) => (look.fg & flag) !== 0).map(([, code]) => `${code}`),
    ...bgFlags.filter(([flag]) => (look.bg & flag) !== 0).map(([, code]) => `${code}`),
    ...encodeUnderline(look),
    ...encodeColour(look.fg, 30),
    ...encodeColour(look.bg, 40),
  ];
  // It has a sequence of its own, and the one above undoes it.
  const protection = (look.bg & PROTECTED_FLAG) === 0 ? "" : '\x1b[1"q';
  return `\x1b[${codes.join(";")}m${protection}`;
}

/** 0 = none, 1 = a plain one. A restored cursor can bring back one of the two flags without the other. */
export function underlineOf({ fg, bg, ext }: Omit<Look, "link">): number {
  const style = (ext >>> UNDERLINE_STYLE_SHIFT) & UNDERLINE_STYLE_MASK;
  if ((bg & HAS_EXTENDED_FLAG) !== 0 && style !== 0) return style;
  return (fg & UNDERLINE_FLAG) === 0 ? 0 : 1;
}

function encodeUnderline(look: Look): string[] {
  const { ext } = look;
  const style = underlineOf(look);
  const codes = style === 0 ? [] : [style === 1 ? "4" : `4:${style}`];
  const mode = ext & MODE_MASK;
  if (mode === PALETTE_16 || mode === PALETTE_256) codes.push(`58:5:${ext & 0xff}`);
  else if (mode === MODE_MASK) codes.push(`58:2::${rgbOf(ext).join(":")}`);
  return codes;
}

function encodeColour(word: number, first: 30 | 40): string[] {
  const index = word & 0xff;
  switch (word & MODE_MASK) {
    case 0:
      return [];
    case PALETTE_16:
      return [`${index < BRIGHT ? first + index : first + 60 + index - BRIGHT}`];
    case PALETTE_256:
      return [`${first + 8};5;${index}`];
    default:
      return [`${first + 8};2;${rgbOf(word).join(";")}`];
  }
}

function rgbOf(word: number): number[] {
  return [(word >>> 16) & 0xff, (word >>> 8) & 0xff, word & 0xff];
}
