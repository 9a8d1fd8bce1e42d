const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Without the sequences that a terminal obeys. Line by line: a sequence that lacks its end hides one line at most. */
export function toPlainText(bytes: Uint8Array): string {
  const plain = new PlainText();
  return decoder
    .decode(bytes)
    .split("\n")
    .map((line) => plain.push(line) + plain.flush())
    .join("\n");
}

/**
 * Output as somebody reads it, without what a terminal would have obeyed. One character at a time:
 *
 *   ground --ESC--> escape --[--> sequence --final--> ground
 *                     |-- ] P X ^ _ --> string --BEL or ESC \--> ground
 *                     |-- ( ) # % ... --> designation --final--> ground
 *
 * CAN and SUB end any of them, ESC begins anew, and a line feed inside of a sequence is one. Of a line that is drawn again behind a carriage return the last
 * version stays; a backspace moves back, and what comes then is written over what is there.
 */
export class PlainText {
  #state: State = "ground";
  #line: Line = new Line();

  /** The lines that are complete now; where the text is cut changes nothing about them. */
  push(text: string): string {
    let done = "";
    for (let at = 0; at < text.length; ) {
      if (this.#state === "ground") {
        PRINTABLE.lastIndex = at;
        const run = PRINTABLE.exec(text)?.[0] ?? "";
        at += run.length;
        done += this.#line.write(run);
        if (at >= text.length) break;
      }
      const code = text.codePointAt(at) ?? 0;
      done += this.#control(code);
      at += code > LAST_UNIT ? 2 : 1;
    }
    return done;
  }

  /** What the last line holds; the text begins anew. */
  flush(): string {
    this.#state = "ground";
    return this.#take();
  }

  /** False inside of a sequence: cut there, the rest of it would be text. */
  get isGround(): boolean {
    return this.#state === "ground";
  }

  #control(code: number): string {
    if (code === CAN || code === SUB) this.#state = "ground";
    else if (code === ESC) this.#state = "escape";
    else if (this.#state === "ground" || (code < SPACE && this.#state !== "string"))
      return this.#obey(code);
    else this.#state = after(this.#state, code);
    return "";
  }

  #obey(code: number): string {
    if (code === LF) return `${this.#take()}\n`;
    if (code === TAB) return this.#line.write("\t");
    if (code === CR) this.#line.return();
    else if (code === BS) this.#line.stepBack();
    else this.#state = C1_STATES[code] ?? this.#state;
    return "";
  }

  #take(): string {
    const text = this.#line.text();
    this.#line = new Line();
    return text;
  }
}

/** The line that is being written. Most are only ever added to; the others become a list of their characters. */
class Line {
  #text = "";
  #cells: string[] | undefined;
  /** In cells, when there are some; otherwise behind the text. */
  #column = 0;
  #hasReturned = false;

  /** What does not fit: a line without an end is given away in parts, and what is away cannot be drawn again. */
  write(run: string): string {
    if (run === "") return "";
    if (this.#hasReturned) this.#clear();
    return this.#cells === undefined ? this.#add(run) : this.#overwrite(this.#cells, run);
  }

  return(): void {
    this.#hasReturned = true;
  }

  stepBack(): void {
    if (this.#hasReturned) return;
    if (this.#cells === undefined) {
      this.#cells = [...this.#text];
      this.#column = this.#cells.length;
    }
    this.#column = Math.max(0, this.#column - 1);
  }

  text(): string {
    if (this.#cells === undefined) return this.#text;
    // Blanks behind the place where writing would go on are what erasing leaves.
    const isErased =
      !this.#hasReturned && this.#cells.every((cell, at) => at < this.#column || cell === " ");
    return this.#cells.slice(0, isErased ? this.#column : undefined).join("");
  }

  #add(run: string): string {
    let done = "";
    for (let at = 0; at < run.length; ) {
      const piece = run.slice(at, at + LINE_UNITS - this.#text.length);
      at += piece.length;
      this.#text += piece;
      if (this.#text.length < LINE_UNITS) break;
      const end = isFirstHalf(this.#text, LINE_UNITS - 1) ? LINE_UNITS - 1 : LINE_UNITS;
      done += this.#text.slice(0, end);
      this.#text = this.#text.slice(end);
    }
    return done;
  }

  #overwrite(cells: string[], run: string): string {
    let done = "";
    for (const cell of run) {
      cells[this.#column] = cell;
      this.#column += 1;
      if (this.#column < LINE_UNITS) continue;
      done += cells.splice(0).join("");
      this.#column = 0;
    }
    return done;
  }

  #clear(): void {
    this.#text = "";
    this.#cells = undefined;
    this.#column = 0;
    this.#hasReturned = false;
  }
}

type State = "ground" | "escape" | "designation" | "sequence" | "string";

const BEL = 0x07;
const BS = 0x08;
const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const CAN = 0x18;
const SUB = 0x1a;
const ESC = 0x1b;
const SPACE = 0x20;
const DEL = 0x7f;
const STRING_END = 0x9c;
/** A character beyond it is two units of a string, and a sequence takes both or none. */
const LAST_UNIT = 0xffff;

/** Of one line that are held; a terminal's own are far shorter. */
const LINE_UNITS = 64 * 1024;
const PRINTABLE = /[^\u0000-\u001f\u007f-\u009f]*/y;

/** The one-character forms of what an escape introduces; the others mean nothing in plain text. */
const C1_STATES: Readonly<Record<number, State>> = {
  144: "string",
  152: "string",
  155: "sequence",
  157: "string",
  158: "string",
  159: "string",
};
const INTRODUCED: Readonly<Record<string, State>> = {
  "[": "sequence",
  "]": "string",
  P: "string",
  X: "string",
  "^": "string",
  _: "string",
};

function after(state: Exclude<State, "ground">, code: number): State {
  if (state === "string") return code === BEL || code === STRING_END ? "ground" : "string";
  if (code === DEL) return state;
  if (state === "sequence") return code >= 0x40 ? "ground" : "sequence";
  if (code < 0x30) return "designation";
  if (state === "designation") return "ground";
  return INTRODUCED[String.fromCodePoint(code)] ?? "ground";
}

function isFirstHalf(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
}
