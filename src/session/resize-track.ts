import { parseObject } from "#contract/values/parse-object.ts";
import type { LogFiles } from "#log/log-files.ts";
import { endOf, type LogChunk } from "#log/log-source.ts";

export interface Resize {
  /** Counts up: two changes may be at one offset. */
  readonly serial: number;
  /** The first byte that was printed for this size. */
  readonly offset: number;
  readonly cols: number;
  readonly rows: number;
}

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
/** Cheap to look for in a line before it is parsed. */
const TYPES = ['"session.resized"', '"session.opened"'];
/** Beyond this the oldest are forgotten: who replays from there sees a size too late. */
const RESIZES = 10_000;

/**
 * Where in the output a terminal had which size, read from the events as they come. The event is written before any
 * byte that was printed for the new size is published, so whoever sends bytes up to a tail knows all of them.
 */
export class ResizeTrack {
  readonly #events: LogFiles | undefined;
  #resizes: Resize[] = [];
  #serial = 0;
  #cursor = 0;
  #rest: Uint8Array<ArrayBufferLike> = new Uint8Array(0);

  /** Absent where there is no terminal: such events say nothing of sizes, and those of an agent are many. */
  constructor(events: LogFiles | undefined) {
    this.#events = events;
  }

  /** The one that holds for the byte at this offset. `eventsTail` is the newest that the host has told. */
  at(offset: number, eventsTail: number): Resize | undefined {
    this.#read(eventsTail);
    return this.#resizes.findLast((resize) => resize.offset <= offset);
  }

  /** The next one behind another. */
  after(serial: number, eventsTail: number): Resize | undefined {
    this.#read(eventsTail);
    if (serial >= this.#serial) return undefined;
    return this.#resizes.find((resize) => resize.serial > serial);
  }

  #read(tail: number): void {
    const events = this.#events;
    while (events !== undefined && this.#cursor < tail) {
      const chunk = events.read(this.#cursor, { limit: CHUNK_BYTES, tail });
      if (chunk === undefined) return;
      this.#take(chunk);
      this.#cursor = endOf(chunk);
    }
  }

  #take(chunk: LogChunk): void {
    if (chunk.kind === "gap") {
      this.#rest = new Uint8Array(0);
      return;
    }
    const bytes = Buffer.concat([this.#rest, chunk.bytes]);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    this.#rest = bytes.subarray(end);
    for (const line of bytes.subarray(0, end).toString("utf8").split("\n"))
      if (TYPES.some((type) => line.includes(type))) this.#add(line);
  }

  #add(line: string): void {
    const found = parseSize(line);
    if (found === undefined) return;
    this.#serial += 1;
    this.#resizes.push({ ...found, serial: this.#serial });
    if (this.#resizes.length > RESIZES) this.#resizes = this.#resizes.slice(-RESIZES / 2);
  }
}

function parseSize(line: string): Omit<Resize, "serial"> | undefined {
  // A crash may leave half a line.
  const { type, offset = 0, cols, rows } = parseObject(line) ?? {};
  if (type !== "session.resized" && type !== "session.opened") return undefined;
  if (typeof offset !== "number" || typeof cols !== "number" || typeof rows !== "number")
    return undefined;
  return { offset, cols, rows };
}
