import type { OutputChannel } from "#contract/channels.ts";

/** A message of the event stream: one line, without its end. */
export interface OutputLine {
  readonly channel: OutputChannel;
  /** Of its first byte in the log. */
  readonly offset: number;
  readonly text: string;
  /** False for the rest of an output that does not end with one, and for a part of a very long line. */
  readonly newline: boolean;
  /** Whoever goes on from here misses nothing; bytes of the other channel may come again. */
  readonly next: number;
}

/** A line that is longer comes in parts. */
export const LINE_BYTES = 64 * 1024;

const NEWLINE = 0x0a;

interface Unfinished {
  readonly offset: number;
  readonly parts: Buffer[];
  size: number;
}

/**
 * Clients of the execd API take a message for a line and put the line ends back themselves. So a line is held until its
 * end is there, each channel's apart; only `\n` ends one, so that what they join is what was printed.
 */
export class OutputLines {
  readonly #unfinished = new Map<OutputChannel, Unfinished>();

  *push(channel: OutputChannel, offset: number, bytes: Buffer): Generator<OutputLine> {
    for (let from = 0; from < bytes.length; ) {
      const line = this.#unfinished.get(channel) ?? { offset: offset + from, parts: [], size: 0 };
      const room = from + LINE_BYTES - line.size;
      const end = bytes.indexOf(NEWLINE, from);
      const hasEnd = end >= 0 && end <= room;
      const to = hasEnd ? end : Math.min(bytes.length, room);
      line.parts.push(bytes.subarray(from, to));
      line.size += to - from;
      from = hasEnd ? to + 1 : to;
      const isWhole = hasEnd || line.size >= LINE_BYTES;
      if (isWhole) yield this.#take(channel, line, { newline: hasEnd, end: offset + from });
      else this.#unfinished.set(channel, line);
    }
  }

  /** Nothing follows, or not without a hole. */
  *flush(end: number): Generator<OutputLine> {
    for (const [channel, line] of [...this.#unfinished])
      yield this.#take(channel, line, { newline: false, end });
  }

  #take(
    channel: OutputChannel,
    { offset, parts }: Unfinished,
    { newline, end }: { readonly newline: boolean; readonly end: number },
  ): OutputLine {
    this.#unfinished.delete(channel);
    const waiting = [...this.#unfinished.values()].map((line) => line.offset);
    const text = Buffer.concat(parts).toString("utf8");
    return { channel, offset, text, newline, next: Math.min(end, ...waiting) };
  }
}
