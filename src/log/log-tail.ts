import type { LogIo } from "./log-io.ts";
import { listSegments, segmentPath } from "./segment-files.ts";

/**
 * The tail as the files tell it: the end of the last segment. Looks at one file as long as that one grows,
 * then at the next, and lists the directory only when neither helps (skipped or removed segments).
 */
export class LogTail {
  readonly #dir: string;
  readonly #io: LogIo;
  #last: number | undefined;
  #seen = 0;

  constructor(dir: string, io: LogIo) {
    this.#dir = dir;
    this.#io = io;
  }

  /** The newest tail known without looking; stays when files vanish, because a tail only grows. */
  get seen(): number {
    return this.#seen;
  }

  /** Takes over what the writer published. */
  heard(tail: number): void {
    this.#seen = Math.max(this.#seen, tail);
  }

  look(segmentBytes: number | undefined): number {
    const size = this.#follow(segmentBytes) ?? this.#list();
    if (this.#last !== undefined && size !== undefined) this.heard(this.#last + size);
    return this.#seen;
  }

  /** The size of the last segment if it is surely still the last one. */
  #follow(segmentBytes: number | undefined): number | undefined {
    if (this.#last === undefined || segmentBytes === undefined) return undefined;
    let size = this.#sizeOf(this.#last);
    if (size === segmentBytes) {
      this.#last += segmentBytes;
      size = this.#sizeOf(this.#last);
    }
    return size === segmentBytes ? undefined : size;
  }

  #list(): number | undefined {
    const last = listSegments(this.#dir, this.#io).at(-1);
    this.#last = last;
    return last === undefined ? undefined : this.#sizeOf(last);
  }

  #sizeOf(start: number): number | undefined {
    return this.#io.statSync(segmentPath(this.#dir, start), { throwIfNoEntry: false })?.size;
  }
}
