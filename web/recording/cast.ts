/** One event of a recording: output, a new size, or a remark. `at`: seconds from its beginning. */
export type CastEvent =
  | { readonly at: number; readonly kind: "output"; readonly text: string }
  | { readonly at: number; readonly kind: "size"; readonly cols: number; readonly rows: number }
  | { readonly at: number; readonly kind: "remark"; readonly text: string };

export interface CastHeader {
  readonly cols: number;
  readonly rows: number;
  /** Wall time at which it begins, in seconds since 1970; undefined when it does not say. */
  readonly timestamp: number | undefined;
}

const SIZE_MOST = 4096;

/**
 * Reads asciicast v2 as it comes: a header, then a line for each event, `[seconds, kind, text]`. A line that is none is
 * skipped and counted; the times never go back.
 */
export class CastParser {
  header: CastHeader | undefined;
  readonly events: CastEvent[] = [];
  skipped = 0;
  #rest = "";
  #last = 0;

  push(text: string): void {
    const lines = `${this.#rest}${text}`.split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#take(line);
  }

  end(): void {
    const line = this.#rest;
    this.#rest = "";
    this.#take(line);
  }

  #take(line: string): void {
    if (line.trim() === "") return;
    const value = parseJson(line);
    if (this.header === undefined) {
      this.header = parseHeader(value);
      if (this.header === undefined) this.skipped += 1;
      return;
    }
    const event = parseEvent(value, this.#last);
    if (event === undefined) {
      this.skipped += 1;
      return;
    }
    this.#last = event.at;
    this.events.push(event);
  }
}

function parseHeader(value: unknown): CastHeader | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { version, width, height, timestamp } = value as Readonly<Record<string, unknown>>;
  if (version !== 2 || !isSize(width) || !isSize(height)) return undefined;
  return {
    cols: width,
    rows: height,
    timestamp: typeof timestamp === "number" ? timestamp : undefined,
  };
}

function parseEvent(value: unknown, last: number): CastEvent | undefined {
  if (!Array.isArray(value)) return undefined;
  const [seconds, kind, text]: readonly unknown[] = value;
  if (typeof seconds !== "number" || !Number.isFinite(seconds) || typeof text !== "string")
    return undefined;
  const at = Math.max(last, seconds);
  if (kind === "o") return { at, kind: "output", text };
  if (kind === "m") return { at, kind: "remark", text };
  const size = kind === "r" ? /^(\d{1,4})x(\d{1,4})$/.exec(text) : null;
  const [cols, rows] = [Number(size?.[1]), Number(size?.[2])];
  return isSize(cols) && isSize(rows) ? { at, kind: "size", cols, rows } : undefined;
}

function isSize(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= SIZE_MOST;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
