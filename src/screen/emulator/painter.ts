import type { ScreenSize } from "./emulator.ts";
import { type Cell, type CoreLine, cellAt } from "./emulator-core.ts";
import { encodeLink, type LinkTable } from "./links.ts";
import { blankOf, encodeLook, isSameLook, type Look, PLAIN } from "./sgr.ts";

/**
 * Writes lines down a fresh terminal, from its first row on; what is more than it has rows scrolls away and becomes
 * its scrollback. A line goes on in the next one only by printing over the right margin:
 *
 *   by itself   the last cell was printed, the next line begins with a character: print on
 *   by force    fill the last cell, print one more, go back up and mend both
 */
export class LinePainter {
  readonly #size: ScreenSize;
  readonly #links: LinkTable;
  #out: string[] = [];
  #look: Look = PLAIN;
  /** Where the next character goes; undefined = behind the margin, or not known. */
  #column: number | undefined = 0;
  /** What the cells of the current row are that nobody has printed to. */
  #fill: Look = PLAIN;

  constructor({ size, links }: { readonly size: ScreenSize; readonly links: LinkTable }) {
    this.#size = size;
    this.#links = links;
  }

  take(): string {
    const painted = this.#out.join("");
    this.#out = [];
    return painted;
  }

  paint(lines: readonly CoreLine[]): void {
    lines.forEach((line, row) => {
      const above = lines[row - 1];
      let column = above === undefined ? 0 : this.#enter(line, above, row);
      while (column < this.#size.cols) column = this.#paintFrom(line, column);
    });
    this.setLook(PLAIN);
  }

  setLook(look: Look): void {
    if (isSameLook(this.#look, look)) return;
    this.#out.push(encodeLook(look));
    if (look.link !== this.#look.link) this.#out.push(encodeLink(this.#links.find(look.link)));
    this.#look = look;
  }

  /** Says which column is next: the first character is printed already when the line above flowed into it. */
  #enter(line: CoreLine, above: CoreLine, row: number): number {
    if (line.isWrapped && this.#flowsOn(line, above)) {
      const first = this.#cellAt(line, 0);
      this.setLook(lookOf(first));
      // A row that comes up by scrolling has the colour of the moment.
      this.#fill = row < this.#size.rows ? PLAIN : blankOf(first);
      return this.#print(first, 0);
    }
    this.setLook(PLAIN);
    this.#fill = PLAIN;
    if (line.isWrapped && this.#size.rows > 1) this.#forceWrap(above);
    else this.#out.push("\r\n");
    this.#column = 0;
    return 0;
  }

  #cellAt(line: CoreLine, column: number): Cell {
    return printableCell(line, column, this.#size.cols);
  }

  #flowsOn(line: CoreLine, above: CoreLine): boolean {
    const last = this.#cellAt(above, this.#size.cols - 1);
    const isFull = this.#column === undefined && (last.chars !== "" || last.width === 0);
    const first = this.#cellAt(line, 0);
    return isFull && first.chars !== "" && !mayJoin(first);
  }

  #forceWrap(above: CoreLine): void {
    const { cols } = this.#size;
    this.#out.push(`\x1b[${cols}Gxx\x1b[A`);
    const isWide =
      this.#cellAt(above, cols - 1).width === 0 && this.#cellAt(above, cols - 2).width === 2;
    const from = isWide ? cols - 2 : cols - 1;
    this.#out.push(`\x1b[${from + 1}G`);
    const mended = this.#cellAt(above, from);
    this.setLook(lookOf(mended));
    this.#out.push(isPrinted(mended) ? mended.chars : "\x1b[X");
    this.setLook(PLAIN);
    this.#out.push("\x1b[B\r\x1b[X");
  }

  /** Paints what begins at a column and says where the next begins. */
  #paintFrom(line: CoreLine, column: number): number {
    const cell = this.#cellAt(line, column);
    if (isPrinted(cell)) {
      if (this.#column !== column || mayJoin(cell)) this.#out.push(`\x1b[${column + 1}G`);
      this.setLook(lookOf(cell));
      return this.#print(cell, column);
    }
    const look = blankOf(cell);
    let end = column + 1;
    while (end < this.#size.cols && isBlankLike(this.#cellAt(line, end), look)) end += 1;
    if (isSameLook(look, this.#fill)) return end;
    this.setLook(look);
    this.#out.push(`\x1b[${column + 1}G\x1b[${end - column}X`);
    this.#column = column;
    return end;
  }

  #print(cell: Cell, column: number): number {
    this.#out.push(cell.chars);
    const next = column + Math.max(cell.width, 1);
    this.#column = next < this.#size.cols ? next : undefined;
    return next;
  }
}

/** Below it no character joins the one before, nor do lines, boxes, kana and ideographs, of which screens are full. */
const JOINS_FROM = 0x300;
const STANDS_ALONE = /^[\u2500-\u25ff\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff]/;

/** Would become a part of the one before it: it stands alone only after a sequence. */
function mayJoin({ chars, width }: Cell): boolean {
  if (width === 0) return true;
  return (chars.codePointAt(0) ?? 0) >= JOINS_FROM && !STANDS_ALONE.test(chars);
}

function isBlankLike(cell: Cell, look: Look): boolean {
  return !isPrinted(cell) && isSameLook(blankOf(cell), look);
}

/** As it can be printed: a wide character that has lost its second half, to a resize for instance, cannot. */
export function printableCell(line: CoreLine, column: number, cols: number): Cell {
  const cell = cellAt(line, column);
  if (cell.width !== 2) return cell;
  const second = column + 1 < cols ? cellAt(line, column + 1) : undefined;
  const isWhole = second?.width === 0 && second.chars === "";
  return isWhole ? cell : { ...cell, chars: "", width: 1 };
}

export function lookOf(cell: Cell): Look {
  if (!isPrinted(cell)) return blankOf(cell);
  return { fg: cell.fg, bg: cell.bg, ext: cell.ext, link: cell.link };
}

export function isPrinted(cell: Cell): boolean {
  return cell.chars !== "" && !/[\x00-\x1f\x7f-\x9f]/.test(cell.chars);
}
