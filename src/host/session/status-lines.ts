import { isStatusType } from "#contract/agent/agent-status.ts";
import { limits } from "#contract/limits.ts";

const NEWLINE = 10;
/** Workers write the type first; a line that begins otherwise is parsed to find it. */
const TYPE_FIRST = Buffer.from('{"type":"');
const QUOTE = 34;
const NO_LINE = Buffer.alloc(0);
/** Longer than any type of an event. */
const TYPE_BYTES = 64;

/**
 * Cuts the bytes of an events log into lines and parses those that say something about the agent's status. Most lines
 * are deltas of reasoning and of tool calls: their type is enough to skip them.
 */
export class StatusLines {
  /** The beginning of a line whose end has not come. */
  #partial: Buffer[] = [];
  #partialBytes = 0;

  /** Bytes after the last line end. */
  get partialBytes(): number {
    return this.#partialBytes;
  }

  push(bytes: Buffer, apply: (event: Readonly<Record<string, unknown>>) => void): void {
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      const event = parseLine(this.#complete(bytes.subarray(from, end)));
      from = end + 1;
      if (event !== undefined) apply(event);
    }
    this.#keep(bytes.subarray(from));
  }

  #complete(rest: Buffer): Buffer {
    if (this.#partialBytes === 0) return rest;
    const isTooLong = this.#partialBytes > limits.event_line_bytes;
    const line = isTooLong ? NO_LINE : Buffer.concat([...this.#partial, rest]);
    this.#partial = [];
    this.#partialBytes = 0;
    return line;
  }

  #keep(rest: Buffer): void {
    if (rest.length === 0) return;
    this.#partialBytes += rest.length;
    // Only the length is kept of a line that no worker may write. The reader's buffer is used again.
    if (this.#partialBytes > limits.event_line_bytes) this.#partial = [];
    else this.#partial.push(Buffer.from(rest));
  }
}

function parseLine(line: Buffer): Readonly<Record<string, unknown>> | undefined {
  if (!mayMatter(line)) return undefined;
  try {
    const value: unknown = JSON.parse(line.toString("utf8"));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    // Whoever uses a field checks it.
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    // Half a line that a crash left behind.
    return undefined;
  }
}

function mayMatter(line: Buffer): boolean {
  if (line.length <= TYPE_FIRST.length) return false;
  if (!line.subarray(0, TYPE_FIRST.length).equals(TYPE_FIRST)) return true;
  const end = line.subarray(0, TYPE_BYTES).indexOf(QUOTE, TYPE_FIRST.length);
  return end === -1 || isStatusType(line.toString("latin1", TYPE_FIRST.length, end));
}
