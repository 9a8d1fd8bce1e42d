export type MaybePromise<T> = T | Promise<T>;

/** Bytes of one channel, or a range that nobody can read any more: evicted or lost. */
export type LogChunk =
  | {
      readonly kind: "bytes";
      readonly offset: number;
      readonly channel: number;
      /** Of the first byte, since the log's epoch. */
      readonly at_ms: number;
      /** The receiver's own to keep, unless it gave a buffer to read into: then a view of that. */
      readonly bytes: Uint8Array;
    }
  | { readonly kind: "gap"; readonly from: number; readonly to: number };

export interface ReadOptions {
  /** Of bytes in the chunk; there may be fewer, never none. */
  readonly limit: number;
  /** A tail that the writer has published. Nothing at or past it is read, and nobody is asked for a newer one. */
  readonly tail?: number;
  /** Saves memory traffic for who is done with a chunk before reading the next; `limit` is at most its size. */
  readonly into?: Uint8Array;
}

/** A log to read from: files on this machine, or one day a request to another. */
export interface LogSource extends Disposable {
  tail(): MaybePromise<number>;
  /** The start of the oldest segment that is kept. */
  first(): MaybePromise<number>;
  /** What begins at the cursor; undefined = the cursor is at the tail. Throws `offset_out_of_range`. */
  read(cursor: number, options: ReadOptions): MaybePromise<LogChunk | undefined>;
}

/** The cursor behind a chunk. */
export function endOf(chunk: LogChunk): number {
  return chunk.kind === "gap" ? chunk.to : chunk.offset + chunk.bytes.length;
}
