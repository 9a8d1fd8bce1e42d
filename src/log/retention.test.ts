import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { type LogFiles, openLogFiles } from "./log-files.ts";
import { nodeIo } from "./log-io.ts";
import { openLogWriter } from "./log-writer.ts";
import { listSegments } from "./segment-files.ts";
import { createFaultyIo, type Trouble } from "./testing/faulty-io.ts";
import { Collected, collect, LOST, LogModel } from "./testing/log-model.ts";
import { openTempDir } from "./testing/temp-dir.ts";

const SEGMENT_BYTES = 64;

const append = fc.record({
  channel: fc.integer({ min: 1, max: 2 }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 90 }),
  /** How many readers take a step afterwards. */
  reads: fc.nat(3),
});

/** What is left of a log: gaps where no file is. */
function withGaps(written: LogModel, starts: readonly number[]): LogModel {
  const left = new LogModel();
  for (let start = 0; start < written.tail; start += SEGMENT_BYTES) {
    const end = Math.min(start + SEGMENT_BYTES, written.tail);
    if (!starts.includes(start)) left.lose(end - start);
    for (let at = start; at < end && starts.includes(start); at += 1) {
      left.append(written.channels[at] ?? 0, Buffer.from([written.bytes[at] ?? 0]));
    }
  }
  return left;
}

function readOn(source: LogFiles, seen: Collected): boolean {
  const chunk = source.read(seen.cursor, { limit: 20 });
  if (chunk !== undefined) seen.add(chunk);
  return chunk !== undefined;
}

/** What a reader saw before and after evictions is a gap or the truth. */
function finish(source: LogFiles, seen: Collected, written: LogModel): void {
  while (readOn(source, seen));
  expect(seen.cursor).toBe(written.tail);
  for (const [offset, channel] of seen.held.channels.entries()) {
    const truth = [written.channels[offset], written.bytes[offset]];
    expect([[LOST, 0], truth]).toContainEqual([channel, seen.held.bytes[offset]]);
  }
}

function sizeOnDisk(dir: string): number {
  return readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
}

test("evicts whole segments but the first and the current one, and says so to readers as gaps", {
  timeout: 60_000,
}, () => {
  const appends = fc.array(append, { minLength: 5, maxLength: 60, size: "medium" });
  fc.assert(
    fc.property(appends, fc.integer({ min: 0, max: 1500 }), (given, retainBytes) => {
      using temp = openTempDir();
      const dir = join(temp.path, "log");
      using writer = openLogWriter({
        dir,
        clock: new ManualClock(),
        segmentBytes: SEGMENT_BYTES,
        retainBytes,
      });
      const written = new LogModel();
      using slow = openLogFiles(dir);
      using slower = openLogFiles(dir);
      const readers = [slow, slower].map((source) => ({ source, seen: new Collected(0) }));
      for (const { channel, bytes, reads } of given) {
        expect(writer.append(channel, bytes)).toBe(bytes.length);
        written.append(channel, bytes);
        const starts = listSegments(dir, nodeIo);
        const current = written.tail - 1 - ((written.tail - 1) % SEGMENT_BYTES);
        expect([starts[0], starts.at(-1)]).toEqual([0, current]);
        expect(writer.diskBytes).toBe(sizeOnDisk(dir));
        if (starts.length > 2) expect(writer.diskBytes).toBeLessThanOrEqual(retainBytes);
        for (const { source, seen } of readers.slice(0, reads)) readOn(source, seen);
      }
      const left = withGaps(written, listSegments(dir, nodeIo));
      using fresh = openLogFiles(dir);
      expect(collect(fresh, 0).held).toEqual(left);
      for (const { source, seen } of readers) finish(source, seen, written);
    }),
    { numRuns: 50 },
  );
});

test("a segment that a reader holds open is read to its end although it was evicted", () => {
  using temp = openTempDir();
  const dir = join(temp.path, "log");
  const clock = new ManualClock();
  using writer = openLogWriter({ dir, clock, segmentBytes: SEGMENT_BYTES, retainBytes: 400 });
  using source = openLogFiles(dir);
  writer.append(1, Buffer.alloc(130, "a"));
  expect(source.read(64, { limit: 1 })).toMatchObject({ kind: "bytes", offset: 64 });
  writer.append(2, Buffer.alloc(600, "b"));
  expect(listSegments(dir, nodeIo)).not.toContain(64);
  expect(source.read(65, { limit: 99 })).toMatchObject({ kind: "bytes", bytes: { length: 63 } });
  expect(source.read(128, { limit: 99 })).toMatchObject({ kind: "gap", from: 128 });
  expect(source.read(65, { limit: 99 })).toMatchObject({ kind: "gap", from: 65 });
});

test("an index that outgrows its bytes counts as well", () => {
  using temp = openTempDir();
  const dir = join(temp.path, "log");
  using writer = openLogWriter({
    dir,
    clock: new ManualClock(),
    segmentBytes: SEGMENT_BYTES,
    retainBytes: 2000,
  });
  writer.append(1, Buffer.alloc(5 * SEGMENT_BYTES));
  expect(listSegments(dir, nodeIo)).toHaveLength(5);
  for (let turn = 0; turn < SEGMENT_BYTES; turn += 1) writer.append(turn % 2, Buffer.from("x"));
  expect(writer.diskBytes).toBe(sizeOnDisk(dir));
  expect(listSegments(dir, nodeIo).length).toBeLessThan(6);
});

test("what cannot be removed stays readable and stops nothing", () => {
  using temp = openTempDir();
  const dir = join(temp.path, "log");
  let trouble: Trouble = "none";
  const faulty = createFaultyIo(() => trouble);
  const io = {
    ...nodeIo,
    unlinkSync: (path: string) => {
      trouble = "broken";
      faulty.unlinkSync(path);
    },
  };
  using writer = openLogWriter({
    dir,
    clock: new ManualClock(),
    segmentBytes: SEGMENT_BYTES,
    retainBytes: 1,
    io,
  });
  expect(writer.append(1, Buffer.alloc(500, "a"))).toBe(500);
  expect(writer.fault).toBeUndefined();
  using source = openLogFiles(dir);
  expect(collect(source, 0).held.bytes).toEqual([...Buffer.alloc(500, "a")]);
});
