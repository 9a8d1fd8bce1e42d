import type { Writable } from "node:stream";

/** Writes lines whole and one after the other, as fast as they are taken and no faster. */
export class LineWriter {
  readonly #stream: Writable;
  #last: Promise<void> = Promise.resolve();

  constructor(stream: Writable) {
    this.#stream = stream;
    // Who does not read any more has closed stdout, and that ends the process.
    stream.on("error", () => undefined);
  }

  /** Settles when the line has been taken. */
  write(line: object): Promise<void> {
    return this.writeText(JSON.stringify(line));
  }

  writeText(json: string): Promise<void> {
    this.#last = this.#last.then(() => this.#put(`${json}\n`));
    return this.#last;
  }

  #put(text: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stream.write(text, () => resolve());
    return promise;
  }
}
