import type { LogFiles } from "#log/log-files.ts";
import { endOf, type LogChunk } from "#log/log-source.ts";

/** The channel of a byte that nobody can read. */
export const LOST = -1;

/** What a log must hold, byte by byte: the simplest thing that could be right. */
export class LogModel {
  readonly bytes: number[] = [];
  readonly channels: number[] = [];

  get tail(): number {
    return this.bytes.length;
  }

  append(channel: number, bytes: Uint8Array): void {
    for (const byte of bytes) {
      this.bytes.push(byte);
      this.channels.push(channel);
    }
  }

  lose(count: number): void {
    for (let lost = 0; lost < count; lost += 1) {
      this.bytes.push(0);
      this.channels.push(LOST);
    }
  }

  /** Everything below is gone, as after the files were removed. */
  loseAll(): void {
    this.bytes.fill(0);
    this.channels.fill(LOST);
  }

  cut(tail: number): void {
    this.bytes.length = tail;
    this.channels.length = tail;
  }

  /** A copy of what begins at `from`. */
  since(from: number): LogModel {
    const rest = new LogModel();
    rest.bytes.push(...this.bytes.slice(from));
    rest.channels.push(...this.channels.slice(from));
    return rest;
  }
}

/** The first offset at which two differ, or -1. For logs that are too long to be compared as values. */
export function firstDifference(a: LogModel, b: LogModel): number {
  for (let at = 0; at < Math.max(a.tail, b.tail); at += 1) {
    if (a.bytes[at] !== b.bytes[at] || a.channels[at] !== b.channels[at]) return at;
  }
  return -1;
}

/** Puts chunks together again; whatever way they were cut, the result for the same bytes is the same. */
export class Collected {
  readonly from: number;
  readonly held = new LogModel();

  constructor(from: number) {
    this.from = from;
  }

  get cursor(): number {
    return this.from + this.held.tail;
  }

  add(chunk: LogChunk): void {
    const start = chunk.kind === "gap" ? chunk.from : chunk.offset;
    if (start !== this.cursor) throw new Error(`a chunk at ${start}, but ${this.cursor} is next`);
    if (endOf(chunk) <= start) throw new Error(`an empty chunk at ${start}`);
    if (chunk.kind === "gap") this.held.lose(chunk.to - chunk.from);
    else this.held.append(chunk.channel, chunk.bytes);
  }
}

/** Reads to the tail in steps of `limit`. */
export function collect(source: LogFiles, from: number, limit = 7): Collected {
  const collected = new Collected(from);
  for (;;) {
    const chunk = source.read(collected.cursor, { limit });
    if (chunk === undefined) return collected;
    if (chunk.kind === "bytes" && chunk.bytes.length > limit)
      throw new Error("more than the limit");
    collected.add(chunk);
  }
}
