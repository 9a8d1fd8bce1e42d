import {
  HEADER_BYTES,
  type IndexRecord,
  marks,
  parseRecord,
  RECORD_BYTES,
} from "./index-format.ts";
import { type LogIo, readFully } from "./log-io.ts";

/** An index can be 24 times as large as its bytes, so only this many records of it are in memory. */
const BLOCK_RECORDS = 256;
/** After this many steps a search is cheaper than walking on, and a run is long enough. */
const WALK_RECORDS = 512;

/** Bytes from a cursor on that have the same fate. */
export interface Run {
  /** Undefined = lost. */
  readonly channel: number | undefined;
  readonly time: number;
  readonly end: number;
}

/**
 * Reads the index of one segment in blocks. Whoever asks names a tail that was taken before, and gets nothing that
 * stands at or past it: such a record may still be replaced, and is read anew when the tail has moved.
 */
export class SegmentIndex {
  readonly #io: LogIo;
  readonly #fd: number;
  readonly #bytes = Buffer.allocUnsafe(BLOCK_RECORDS * RECORD_BYTES);
  #block = -1;
  #loaded = 0;
  #tail = -1;
  /** Where the last run ended: the next question is mostly about what follows. */
  #near = 0;

  constructor(io: LogIo, fd: number) {
    this.#io = io;
    this.#fd = fd;
  }

  /** The run at the cursor; may end before it has to. `end` is at most the tail. */
  run(cursor: number, { tail, end }: { readonly tail: number; readonly end: number }): Run {
    const at = this.#lastUpTo(cursor, tail);
    const now = this.#inForce(at, tail);
    const channel = now?.mark === marks.data ? now.channel : undefined;
    const time = now?.time ?? 0;
    this.#near = Math.max(0, at);
    for (let slot = at + 1; this.#has(slot, tail); slot += 1) {
      const next = this.#parse(slot);
      // After a power cut an index may speak of bytes that are not there, and its next records begin before them.
      if (next === undefined || next.offset <= cursor) continue;
      if (next.offset > end) break;
      this.#near = slot;
      const changes =
        isState(next) && channel !== (next.mark === marks.data ? next.channel : undefined);
      if (changes || slot - at >= WALK_RECORDS) return { channel, time, end: next.offset };
    }
    return { channel, time, end };
  }

  /** The readable records with `from <= offset < to`; `to` is at most the tail. */
  *records(from: number, to: number): Generator<IndexRecord> {
    for (let slot = this.#lastUpTo(from - 1, to) + 1; this.#has(slot, to); slot += 1) {
      const record = this.#parse(slot);
      if (record === undefined) continue;
      if (record.offset >= to) return;
      yield record;
    }
  }

  /** The data or lost record that holds at a slot. */
  #inForce(at: number, tail: number): IndexRecord | undefined {
    for (let slot = at; slot >= 0 && this.#has(slot, tail); slot -= 1) {
      const record = this.#parse(slot);
      if (record !== undefined && isState(record)) return record;
    }
    return undefined;
  }

  /** The slot of the last record with an offset up to the cursor, or -1. */
  #lastUpTo(cursor: number, tail: number): number {
    if (!this.#isUpTo(this.#near, cursor, tail)) return this.#search(cursor, tail);
    let found = this.#near;
    for (let slot = found + 1; this.#has(slot, tail); slot += 1) {
      const record = this.#parse(slot);
      if (record === undefined) continue;
      if (record.offset > cursor) return found;
      found = slot;
      if (slot - this.#near > WALK_RECORDS) return this.#search(cursor, tail);
    }
    return found;
  }

  #isUpTo(slot: number, cursor: number, tail: number): boolean {
    const record = this.#has(slot, tail) ? this.#parse(slot) : undefined;
    return record !== undefined && record.offset <= cursor;
  }

  #search(cursor: number, tail: number): number {
    const size = this.#io.fstatSync(this.#fd).size;
    let high = Math.floor((size - HEADER_BYTES) / RECORD_BYTES);
    let low = 0;
    let found = -1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      // A damaged record cannot be compared; the nearest readable one before it answers in its place.
      let probe = middle;
      while (probe >= low && this.#has(probe, tail) && this.#parse(probe) === undefined) probe -= 1;
      if (probe >= low && !this.#isUpTo(probe, cursor, tail)) {
        high = probe;
        continue;
      }
      if (probe >= low) found = probe;
      low = middle + 1;
    }
    return found;
  }

  #has(slot: number, tail: number): boolean {
    const block = Math.floor(slot / BLOCK_RECORDS);
    const within = slot - block * BLOCK_RECORDS;
    // Only the last record can have been replaced since.
    const known = block === this.#block && (within < this.#loaded - 1 || tail === this.#tail);
    if (!known) this.#load(block, tail);
    return within < this.#loaded;
  }

  #load(block: number, tail: number): void {
    const position = HEADER_BYTES + block * this.#bytes.length;
    const count = readFully(this.#io, this.#fd, { into: this.#bytes, position });
    this.#block = block;
    this.#tail = tail;
    this.#loaded = Math.floor(count / RECORD_BYTES);
  }

  /** Only after `has` of the same slot. */
  #parse(slot: number): IndexRecord | undefined {
    return parseRecord(this.#bytes, (slot % BLOCK_RECORDS) * RECORD_BYTES);
  }
}

function isState(record: IndexRecord): boolean {
  return record.mark === marks.data || record.mark === marks.lost;
}
