import type { IndexRecord } from "./index-format.ts";
import { closeQuietly, type LogIo, readFully } from "./log-io.ts";
import { indexPath, openExisting, readHeaderOf, segmentPath } from "./segment-files.ts";
import { type Run, SegmentIndex } from "./segment-index.ts";

/** Undefined when the segment was evicted, or nothing says what its bytes are: a gap in both cases. */
export function openSegmentReader(
  dir: string,
  start: number,
  io: LogIo,
): SegmentReader | undefined {
  using stack = new DisposableStack();
  const data = openExisting(segmentPath(dir, start), io);
  if (data === undefined) return undefined;
  stack.defer(() => closeQuietly(io, data));
  const path = indexPath(dir, start);
  const index = openExisting(path, io);
  if (index === undefined) return undefined;
  stack.defer(() => closeQuietly(io, index));
  const header = readHeaderOf(index, path, io);
  if (header === undefined) return undefined;
  const end = start + header.segmentBytes;
  return new SegmentReader({ start, end, data, index, io, files: stack.move() });
}

interface SegmentReaderDeps {
  readonly start: number;
  readonly end: number;
  readonly data: number;
  readonly index: number;
  readonly io: LogIo;
  readonly files: Disposable;
}

/** One segment held open: its eviction meanwhile takes nothing from whoever reads it. */
export class SegmentReader implements Disposable {
  readonly #deps: SegmentReaderDeps;
  readonly #index: SegmentIndex;

  constructor(deps: SegmentReaderDeps) {
    this.#deps = deps;
    this.#index = new SegmentIndex(deps.io, deps.index);
  }

  covers(offset: number): boolean {
    return offset >= this.#deps.start && offset < this.#deps.end;
  }

  /** The run at the cursor, within the segment, the tail and `end`. */
  run(cursor: number, { tail, end }: { readonly tail: number; readonly end: number }): Run {
    return this.#index.run(cursor, { tail, end: Math.min(end, tail, this.#deps.end) });
  }

  /** Fills what it is given; less only where the file ends. */
  read(from: number, into: Uint8Array): Uint8Array {
    const { io, data, start } = this.#deps;
    const count = readFully(io, data, { into, position: from - start });
    return count === into.length ? into : into.subarray(0, count);
  }

  /** Whether the file reaches that far; a tail may promise more than a damaged one holds. */
  holds(offset: number): boolean {
    return this.#deps.io.fstatSync(this.#deps.data).size > offset - this.#deps.start;
  }

  records(from: number, to: number): Generator<IndexRecord> {
    return this.#index.records(from, Math.min(to, this.#deps.end));
  }

  [Symbol.dispose](): void {
    this.#deps.files[Symbol.dispose]();
  }
}
