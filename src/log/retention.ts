import { errnoOf } from "#base/errno.ts";
import { type LogIo, unlinkIfThere } from "./log-io.ts";
import { indexPath, segmentPath } from "./segment-files.ts";

export interface ClosedSegment {
  readonly start: number;
  readonly bytes: number;
}

interface RetentionDeps {
  readonly dir: string;
  readonly io: LogIo;
  /** For bytes and index together. */
  readonly budgetBytes: number;
}

/** The segments behind the one being written: how much they hold, and which go when it is too much. */
export class Retention {
  readonly #deps: RetentionDeps;
  #segments: ClosedSegment[];
  #bytes = 0;

  constructor(deps: RetentionDeps, segments: readonly ClosedSegment[]) {
    this.#deps = deps;
    this.#segments = [...segments];
    for (const segment of segments) this.#bytes += segment.bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get first(): number | undefined {
    return this.#segments[0]?.start;
  }

  add(segment: ClosedSegment): void {
    this.#segments.push(segment);
    this.#bytes += segment.bytes;
  }

  /** After the files were taken away by somebody else. */
  forget(): void {
    this.#segments = [];
    this.#bytes = 0;
  }

  /** Evicts the oldest ones until they and the current segment fit. How a session began is always kept. */
  trim(currentBytes: number): void {
    while (this.#bytes + currentBytes > this.#deps.budgetBytes) {
      const oldest = this.#segments[0]?.start === 0 ? 1 : 0;
      const [evicted] = this.#segments.splice(oldest, 1);
      if (evicted === undefined) return;
      this.#bytes -= evicted.bytes;
      this.#remove(evicted.start);
    }
  }

  #remove(start: number): void {
    const { dir, io } = this.#deps;
    try {
      // Bytes first: a segment without an index reads as evicted, and only bytes say where the log ends.
      unlinkIfThere(io, segmentPath(dir, start));
      unlinkIfThere(io, indexPath(dir, start));
    } catch (error) {
      // What cannot be removed stays readable and costs only room; the log goes on.
      if (errnoOf(error) === undefined) throw error;
    }
  }
}
