import type { Gap, OutputEvent } from "./frames.ts";

/** Which byte comes next. Whatever connections bring, each byte passes once, in order, and what is missing is said. */
export class Cursor {
  #next: number | undefined;
  #isPainted = false;

  /** Undefined until the server has said where it begins. */
  get next(): number | undefined {
    return this.#next;
  }

  /** There is a screen, or output that no screen may replace any more. */
  get isPainted(): boolean {
    return this.#isPainted;
  }

  begin(offset: number): void {
    this.#next ??= offset;
  }

  /** The screen stands for everything before its offset. */
  paint(offset: number): void {
    this.#next = offset;
    this.#isPainted = true;
  }

  /** What of it is new. */
  pass(event: OutputEvent | Gap): readonly (OutputEvent | Gap)[] {
    this.#isPainted = true;
    return event.type === "gap" ? this.#passGap(event) : this.#passOutput(event);
  }

  #passGap({ from, to }: Gap): Gap[] {
    const next = this.#next ?? from;
    if (to <= next) return [];
    this.#next = to;
    return [{ type: "gap", from: next, to }];
  }

  #passOutput(event: OutputEvent): (OutputEvent | Gap)[] {
    const { offset, bytes } = event;
    const next = this.#next ?? offset;
    const end = offset + bytes.length;
    if (end <= next || bytes.length === 0) return [];
    this.#next = end;
    if (offset < next) return [{ ...event, offset: next, bytes: bytes.subarray(next - offset) }];
    return offset === next ? [event] : [{ type: "gap", from: next, to: offset }, event];
  }
}
