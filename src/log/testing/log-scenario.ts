import { rmSync } from "node:fs";
import fc from "fast-check";
import { expect } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { type LogFiles, openLogFiles } from "#log/log-files.ts";
import { nodeIo } from "#log/log-io.ts";
import { type LogWriter, openLogWriter, RETRY_MS } from "#log/log-writer.ts";
import { listSegments } from "#log/segment-files.ts";
import { createFaultyIo, type Trouble } from "./faulty-io.ts";
import { Collected, collect, LOST, LogModel } from "./log-model.ts";

/** One thing that happens to a log or its readers; the text is for a counterexample. */
export interface Step {
  readonly text: string;
  readonly run: (scenario: LogScenario) => void;
}

const append = fc
  .tuple(fc.integer({ min: 1, max: 2 }), fc.uint8Array({ maxLength: 50 }))
  .map(([channel, bytes]) =>
    step(`append ${channel} [${bytes}]`, (log) => log.append(channel, bytes)),
  );
const skip = fc.nat(120).map((count) => step(`skip ${count}`, (log) => log.skip(count)));
const mark = fc.constant(step("mark", (log) => log.mark()));
const wait = fc.nat(9).map((ms) => step(`wait ${ms}`, (log) => log.clock.advance(ms)));
const reopen = fc.constant(step("reopen", (log) => log.reopen()));
const remove = fc.constant(step("remove", (log) => log.remove()));
const begin = fc.nat(100).map((share) => step(`begin ${share}`, (log) => log.begin(share / 100)));
const read = fc
  .tuple(fc.nat(9), fc.integer({ min: 1, max: 60 }))
  .map(([who, limit]) => step(`read ${who} ${limit}`, (log) => log.read(who, limit)));

function step(text: string, run: (scenario: LogScenario) => void): Step {
  return { text, run };
}

export const steps = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: append },
    { weight: 2, arbitrary: skip },
    { weight: 2, arbitrary: mark },
    { weight: 2, arbitrary: wait },
    { weight: 1, arbitrary: reopen },
    { weight: 1, arbitrary: remove },
    { weight: 3, arbitrary: begin },
    { weight: 8, arbitrary: read },
  ),
  { maxLength: 60, size: "medium" },
);

interface Reader {
  readonly source: LogFiles;
  readonly collected: Collected;
}

/**
 * A writer, any number of readers and the model of what they must see, kept in step and compared after each
 * step. `written` is all that was ever in the log; `now` is what is still there.
 */
export class LogScenario implements Disposable {
  readonly clock = new ManualClock();
  readonly written = new LogModel();
  readonly now = new LogModel();
  readonly #dir: string;
  readonly #segmentBytes: number;
  readonly #troubles: Trouble[];
  readonly #readers: Reader[] = [];
  #writer: LogWriter;
  #owed = 0;
  #met = false;

  constructor(dir: string, segmentBytes: number, troubles: readonly Trouble[]) {
    this.#dir = dir;
    this.#segmentBytes = segmentBytes;
    this.#troubles = [...troubles];
    this.#writer = this.#open();
  }

  append(channel: number, bytes: Uint8Array): void {
    const count = this.#writer.append(channel, bytes);
    this.#pass(this.#writer.tail - this.written.tail - count);
    if (bytes.length > 0) expect(this.#writer.fault === undefined).toBe(count === bytes.length);
    if (count > 0) expect(this.#owed).toBe(0);
    for (const model of [this.written, this.now]) model.append(channel, bytes.subarray(0, count));
  }

  skip(count: number): void {
    this.#owed += count;
    this.#writer.skip(count);
    this.#pass(this.#writer.tail - this.written.tail);
  }

  settle(): void {
    const settled = this.#writer.settle();
    this.#pass(this.#writer.tail - this.written.tail);
    expect(settled).toBe(this.#owed === 0);
  }

  mark(): void {
    this.#writer.mark("resize", 80, 24);
    this.#pass(this.#writer.tail - this.written.tail);
  }

  /** The next life of the writer; what the last one still owed was never promised to anybody. */
  reopen(): void {
    this.#owed = 0;
    this.#writer[Symbol.dispose]();
    this.#writer = this.#open();
    this.#check();
  }

  remove(): void {
    // A disk that fails while it is repaired has a test of its own.
    const later = this.#troubles.splice(0);
    const hadBytes = listSegments(this.#dir, nodeIo).length > 0;
    rmSync(this.#dir, { recursive: true, force: true });
    expect(this.#writer.ensurePresent()).toBe(hadBytes);
    this.#troubles.push(...later);
    this.now.loseAll();
    this.#check();
  }

  begin(share: number): void {
    const source = openLogFiles(this.#dir);
    this.#readers.push({ source, collected: new Collected(Math.round(share * source.tail())) });
  }

  read(who: number, limit: number): void {
    const reader = this.#readers[who % this.#readers.length];
    const chunk = reader?.source.read(reader.collected.cursor, { limit });
    if (chunk !== undefined) reader?.collected.add(chunk);
  }

  /** The disk is well again: every reader, old and new, must get everything. */
  finish(): void {
    this.#troubles.length = 0;
    this.settle();
    this.#check();
    for (const [who, { source, collected }] of this.#readers.entries()) {
      while (collected.cursor < this.written.tail) this.read(who, 11);
      expect(source.read(collected.cursor, { limit: 1 })).toBeUndefined();
      this.#compareOld(collected);
    }
    for (const from of [0, Math.floor(this.now.tail / 3), this.now.tail]) {
      using source = openLogFiles(this.#dir);
      expect(collect(source, from).held).toEqual(this.now.since(from));
    }
  }

  [Symbol.dispose](): void {
    this.#writer[Symbol.dispose]();
    for (const { source } of this.#readers) source[Symbol.dispose]();
  }

  #open(): LogWriter {
    return openLogWriter({
      dir: this.#dir,
      clock: this.clock,
      segmentBytes: this.#segmentBytes,
      io: createFaultyIo(() => {
        const trouble = this.#troubles.shift() ?? "none";
        if (trouble !== "none") this.#met = true;
        return trouble;
      }),
    });
  }

  /** The tail went over some of what was skipped. */
  #pass(count: number): void {
    expect(count).toBeGreaterThanOrEqual(0);
    expect(count).toBeLessThanOrEqual(this.#owed);
    this.#owed -= count;
    for (const model of [this.written, this.now]) model.lose(count);
    if (this.#met) this.clock.advance(RETRY_MS);
    else expect(this.#owed).toBe(0);
    this.#met = false;
  }

  /** What is published is in the files, for a process that never saw them before. */
  #check(): void {
    using source = openLogFiles(this.#dir);
    expect(this.#writer.tail).toBe(this.written.tail);
    expect(source.tail()).toBe(this.written.tail);
  }

  /** Who held files that were removed meanwhile may have read more than is there now, but nothing else. */
  #compareOld({ from, held }: Collected): void {
    const { bytes, channels } = this.written.since(from);
    const now = this.now.since(from);
    expect(held.tail).toBe(bytes.length);
    for (const [place, channel] of held.channels.entries()) {
      if (channel === LOST) expect(now.channels[place]).toBe(LOST);
      else expect([channel, held.bytes[place]]).toEqual([channels[place], bytes[place]]);
    }
  }
}
