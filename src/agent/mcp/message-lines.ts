/** Cuts a stream of bytes into lines. Each byte is looked at once, however long a line is. */
export class MessageLines {
  readonly #limit: number;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The lines that end in this chunk; undefined when one is longer than the limit. */
  push(chunk: Buffer): readonly string[] | undefined {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf("\n"); end !== -1; end = chunk.indexOf("\n", from)) {
      if (!this.#hold(chunk.subarray(from, end))) return undefined;
      lines.push(Buffer.concat(this.#held).toString("utf8"));
      this.clear();
      from = end + 1;
    }
    return this.#hold(chunk.subarray(from)) ? lines : undefined;
  }

  clear(): void {
    this.#held = [];
    this.#heldBytes = 0;
  }

  #hold(part: Buffer): boolean {
    this.#heldBytes += part.length;
    if (part.length > 0) this.#held.push(part);
    return this.#heldBytes <= this.#limit;
  }
}
