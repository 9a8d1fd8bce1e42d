import type { OutputChannel } from "#contract/channels.ts";

export interface Piece {
  readonly offset: number;
  /** Undefined where the reader is not told. */
  readonly channel: OutputChannel | undefined;
  readonly bytes: Uint8Array;
}

export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** `lost` when the host has died. */
export interface SeenEnd {
  readonly exit_code: number | null;
  readonly reason: string;
  /** Where the output ends; undefined where the reader is not told. */
  readonly tail: number | undefined;
}

/** What one reader of a session has got, over all its lives. Says at once what cannot be right. */
export class Recorder {
  readonly name: string;
  readonly pieces: Piece[] = [];
  readonly gaps: Gap[] = [];
  readonly problems: string[] = [];
  #next = 0;
  #generation = 0;
  #end: SeenEnd | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Behind the last byte. */
  get next(): number {
    return this.#next;
  }

  get end(): SeenEnd | undefined {
    return this.#end;
  }

  piece(piece: Piece): void {
    this.#follows(piece.offset, "bytes");
    this.pieces.push(piece);
    this.#next = piece.offset + piece.bytes.length;
  }

  gap(gap: Gap): void {
    this.#follows(gap.from, "a gap");
    this.gaps.push(gap);
    this.#next = gap.to;
  }

  exit(end: SeenEnd): void {
    if (this.#end !== undefined) this.#say("the exit comes twice");
    if (end.tail !== undefined && end.tail !== this.#next)
      this.#say(`the exit at ${end.tail} comes when ${this.#next} is reached`);
    this.#end = end;
  }

  generation(generation: number | null): void {
    if (generation === null) return;
    if (generation < this.#generation)
      this.#say(`generation ${generation} comes after ${this.#generation}`);
    this.#generation = Math.max(this.#generation, generation);
  }

  #follows(offset: number, what: string): void {
    if (this.#end !== undefined) this.#say(`${what} at ${offset} come after the exit`);
    if (offset !== this.#next) this.#say(`${what} at ${offset} come after ${this.#next}`);
  }

  #say(problem: string): void {
    this.problems.push(`${this.name}: ${problem}`);
  }
}
