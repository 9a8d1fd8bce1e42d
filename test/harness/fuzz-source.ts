const WORDS = [
  ...["", "0", "1", "-1", "tail", "true", "null", "NaN", "1e999", "9007199254740993", "0x10", " 1"],
  ...["__proto__", "constructor", "toString", "..", "../../etc/passwd", "%00", "%2e%2e%2f", "\0"],
  ...["\ud800", "\udfff x", "\u202e", "日本語 🎉", "'; DROP TABLE tokens; --", "<script>", "$(x)"],
  ...["ses_0000000000000000", "tsk_0000000000000000", "wsp_local", "reins_x", "\r\nX-Evil: 1"],
];
const NUMBERS = [0, -0, 1, -1, 1.5, 1e308, -1e308, 2 ** 53, 2 ** 63, 4097, 65_536, 5e-324];
const SPREAD = 0x6d2b79f5;

/** The same nonsense for the same seed: bytes, texts and JSON of every kind, small for the most part. */
export class FuzzSource {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0 up to but without `end`. */
  int(end: number): number {
    this.#state = (this.#state + SPREAD) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  }

  /** True once in `times`. */
  once(times: number): boolean {
    return this.int(times) === 0;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.int(items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }

  bytes(most: number): Buffer {
    const size = this.int(most + 1);
    return Buffer.from(Array.from({ length: size }, () => this.int(256)));
  }

  text(): string {
    if (this.once(1000)) return "x".repeat(this.int(100_000));
    if (this.once(3)) return this.bytes(24).toString("latin1");
    return this.pick(WORDS);
  }

  /** What may stand in a header: no controls. */
  headerText(): string {
    const text = this.once(4) ? this.bytes(40).toString("latin1") : this.text().slice(0, 4000);
    return text.replace(/[^\t\x20-\x7e\x80-\xff]/g, "?");
  }

  /** Any value that JSON can say. */
  value(depth = 3): unknown {
    const kinds = depth > 0 ? 7 : 5;
    switch (this.int(kinds)) {
      case 0:
        return null;
      case 1:
        return this.once(2);
      case 2:
        return this.pick(NUMBERS);
      case 3:
      case 4:
        return this.text();
      case 5:
        return Array.from({ length: this.int(4) }, () => this.value(depth - 1));
      default:
        return this.object([], depth - 1);
    }
  }

  /** An object with some of the names, and others. */
  object(names: readonly string[], depth = 2): Record<string, unknown> {
    const fields = Array.from({ length: this.int(5) }, (): [string, unknown] => [
      names.length > 0 && !this.once(4) ? this.pick(names) : this.text().slice(0, 50),
      this.value(depth),
    ]);
    return Object.fromEntries(fields);
  }

  /** JSON as a text, now and then cut, doubled or with a wrong byte. */
  json(value: unknown): string {
    const text = JSON.stringify(value) ?? "";
    switch (this.int(12)) {
      case 0:
        return text.slice(0, this.int(text.length + 1));
      case 1:
        return text + text;
      case 2:
        return text.replace(/./, this.pick(["{", "]", "\u0000", "'", "\ufeff"]));
      case 3:
        return "[".repeat(this.int(3000)) + text;
      default:
        return text;
    }
  }
}
