import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";

/** Of one event, its longest line included. An event of ours is at most a line of a log, in JSON. */
const EVENT_CHARS = 4 * limits.event_line_bytes;
const LINE_END = /\r\n|\r|\n/g;

export interface SseEvent {
  /** As this event itself says. */
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** Server-sent events out of chunks that may end anywhere. An event that was not finished is none. */
export class SseParser {
  readonly #limit: number;
  readonly #decoder = new TextDecoder();
  #line = "";
  #endedByCr = false;
  #id: string | undefined;
  #event = "";
  #data: string[] = [];
  #chars = 0;

  constructor({ limit = EVENT_CHARS }: { readonly limit?: number } = {}) {
    this.#limit = limit;
  }

  push(chunk: Uint8Array): SseEvent[] {
    const text = this.#decoder.decode(chunk, { stream: true });
    const found: SseEvent[] = [];
    if (text === "") return found;
    // A line that ended with the CR of the last chunk has its LF in this one.
    let start = this.#endedByCr && text.startsWith("\n") ? 1 : 0;
    this.#endedByCr = text.endsWith("\r");
    LINE_END.lastIndex = start;
    for (let end = LINE_END.exec(text); end !== null; end = LINE_END.exec(text)) {
      const line = this.#line + text.slice(start, end.index);
      this.#line = "";
      start = LINE_END.lastIndex;
      this.#check(line.length);
      const event = this.#take(line);
      if (event !== undefined) found.push(event);
    }
    this.#line += text.slice(start);
    this.#check(this.#line.length);
    return found;
  }

  #take(line: string): SseEvent | undefined {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") {
      this.#data.push(value);
      this.#chars += value.length + 1;
    }
    if (field === "event") this.#event = value;
    if (field === "id" && !value.includes("\0")) this.#id = value;
    return undefined;
  }

  #dispatch(): SseEvent | undefined {
    const event = { id: this.#id, event: this.#event || "message", data: this.#data.join("\n") };
    const isEmpty = this.#data.length === 0;
    this.#id = undefined;
    this.#event = "";
    this.#data = [];
    this.#chars = 0;
    return isEmpty ? undefined : event;
  }

  #check(lineChars: number): void {
    if (this.#chars + lineChars <= this.#limit) return;
    throw new Fault("payload_too_large", `an event has at most ${this.#limit} characters`, {
      details: { limit: this.#limit },
    });
  }
}
