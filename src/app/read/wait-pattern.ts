import { characterStart, unfinishedLength } from "./pattern-utf8.ts";
import type { PatternSearch } from "./patterns.ts";
import type { Found, Scanner } from "./wait-scan.ts";

/**
 * A window on the log that a pattern is matched in:
 *
 *   base          from                         base + length
 *    |   context   |   where a match may begin   |
 *
 * In history a place is judged when half a window is known behind it, so what is found does not depend on how the
 * bytes came, and each byte is searched about twice. At the tail every match counts. A match of up to half a window
 * is always found; one that is longer than the window never is. A large pattern has a smaller window, so that one
 * search stays short.
 */
export class PatternScanner implements Scanner {
  readonly #search: PatternSearch;
  readonly #windowBytes: number;
  readonly #signal: AbortSignal | undefined;
  readonly #since: number;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  #base: number | undefined;
  /** In the window. */
  #from = 0;
  #hasNews = false;

  constructor(
    search: PatternSearch,
    { since, signal }: { readonly since: number; readonly signal: AbortSignal | undefined },
  ) {
    this.#search = search;
    this.#windowBytes = search.windowBytes;
    this.#since = since;
    this.#signal = signal;
  }

  get #halfBytes(): number {
    return Math.floor(this.#windowBytes / 2);
  }

  get covered(): number {
    return Math.max(0, this.#length - this.#from);
  }

  get resume(): number | undefined {
    return this.#base === undefined ? undefined : this.#base + this.#from;
  }

  async push(offset: number, bytes: Uint8Array): Promise<Found | undefined> {
    if (this.#length === 0) this.#begin(offset);
    let done = 0;
    while (done < bytes.length) {
      done += this.#fill(bytes.subarray(done));
      if (this.#length < this.#windowBytes) break;
      const judged = this.#windowBytes - this.#halfBytes;
      const found = await this.#look({ isEnd: false, judged });
      if (found !== undefined) return found;
      this.#slide();
    }
    return undefined;
  }

  async settle({ isEnd }: { readonly isEnd: boolean }): Promise<Found | undefined> {
    const found =
      this.#hasNews || isEnd
        ? await this.#look({ isEnd, judged: Number.POSITIVE_INFINITY })
        : undefined;
    if (found !== undefined) return found;
    this.#hasNews = false;
    this.#advance();
    if (isEnd && this.#base !== undefined) {
      this.#base += this.#length;
      this.#length = 0;
      this.#from = 0;
    }
    return undefined;
  }

  #begin(offset: number): void {
    this.#base = offset;
    this.#from = Math.max(0, this.#since - offset);
  }

  #fill(bytes: Uint8Array): number {
    const count = Math.min(bytes.length, this.#windowBytes - this.#length);
    this.#makeRoom(this.#length + count);
    this.#bytes.set(bytes.subarray(0, count), this.#length);
    this.#length += count;
    this.#hasNews = true;
    return count;
  }

  /** Most waits see little output, so the window grows with it. */
  #makeRoom(length: number): void {
    if (length <= this.#bytes.length) return;
    const wanted = Math.max(length, 2 * this.#bytes.length, FIRST_BYTES);
    const size = Math.min(this.#windowBytes, wanted);
    const larger = Buffer.allocUnsafeSlow(size);
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }

  async #look({
    isEnd,
    judged,
  }: {
    readonly isEnd: boolean;
    readonly judged: number;
  }): Promise<Found | undefined> {
    // A character whose rest may still come is not looked at by halves.
    const end = this.#length - (isEnd ? 0 : unfinishedLength(this.#bytes, this.#length));
    if (end <= this.#from) return undefined;
    const text = { bytes: this.#bytes.subarray(0, end), from: this.#from };
    const hit = await this.#search.find(text, this.#signal);
    if (hit === undefined || hit.start > judged) return undefined;
    const base = this.#base ?? 0;
    return { offset: base + hit.start, end: base + hit.end, text: hit.text };
  }

  #advance(): void {
    const judged = this.#length - this.#halfBytes;
    if (judged > this.#from) this.#from = characterStart(this.#bytes, judged);
  }

  #slide(): void {
    this.#advance();
    const keep = characterStart(this.#bytes, Math.max(0, this.#from - CONTEXT_BYTES));
    this.#bytes.copyWithin(0, keep, this.#length);
    this.#base = (this.#base ?? 0) + keep;
    this.#length -= keep;
    this.#from -= keep;
  }
}

const FIRST_BYTES = 4096;
/** What `^` and `\b` see of the bytes before, and where a character can begin. */
export const CONTEXT_BYTES = 1024;
