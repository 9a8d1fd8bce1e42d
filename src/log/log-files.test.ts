import {
  appendFileSync,
  closeSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { encodeRecord, HEADER_BYTES, RECORD_BYTES } from "./index-format.ts";
import { openLogFiles } from "./log-files.ts";
import { type LogWriter, openLogWriter } from "./log-writer.ts";
import { collect, LogModel } from "./testing/log-model.ts";
import { openTempDir } from "./testing/temp-dir.ts";

const SEGMENT_BYTES = 100;
const FIRST_INDEX = "0000000000000000.idx";

function openTestLog() {
  using stack = new DisposableStack();
  const temp = stack.use(openTempDir());
  const dir = join(temp.path, "log");
  const clock = new ManualClock();
  const writer = stack.use(openLogWriter({ dir, clock, segmentBytes: SEGMENT_BYTES }));
  const source = stack.use(openLogFiles(dir));
  const owned = stack.move();
  return { dir, clock, writer, source, [Symbol.dispose]: () => owned.dispose() };
}

const limit = 1000;

test("a log that does not exist is empty, and is found once it does", () => {
  using log = openTestLog();
  expect([log.source.tail(), log.source.first(), log.source.epoch()]).toEqual([0, 0, undefined]);
  expect(log.source.read(0, { limit })).toBeUndefined();
  log.writer.append(1, Buffer.from("x"));
  expect(log.source.read(0, { limit })).toMatchObject({ offset: 0, channel: 1 });
  expect(log.source.epoch()).toBe(log.clock.now());
});

test.each([-1, 0.5, Number.NaN, 6, 2 ** 60, Number.POSITIVE_INFINITY])(
  "answers offset_out_of_range with where the log begins and ends to the cursor %d",
  (cursor) => {
    using log = openTestLog();
    log.writer.append(1, Buffer.from("12345"));
    const read = () => log.source.read(cursor, { limit });
    expect(read).toThrow(/begins at 0 and ends at 5/);
    expect(read).toThrow(
      expect.objectContaining({ code: "offset_out_of_range", details: { tail: 5, first: 0 } }),
    );
  },
);

test("a chunk ends at a change of channel, a lost range, a segment, the limit and the given tail", () => {
  using log = openTestLog();
  log.writer.append(1, Buffer.alloc(10));
  log.clock.advance(10);
  log.writer.append(1, Buffer.alloc(10));
  log.writer.append(2, Buffer.alloc(10));
  log.writer.skip(5);
  log.writer.append(2, Buffer.alloc(100));
  const lengthAt = (cursor: number, options = { limit }) => {
    const chunk = log.source.read(cursor, options);
    return chunk?.kind === "bytes" ? chunk.bytes.length : chunk;
  };
  expect(lengthAt(0)).toBe(20);
  expect(lengthAt(0, { limit: 7 })).toBe(7);
  expect(lengthAt(20)).toBe(10);
  expect(lengthAt(30)).toEqual({ kind: "gap", from: 30, to: 35 });
  expect(lengthAt(33)).toEqual({ kind: "gap", from: 33, to: 35 });
  expect(lengthAt(35)).toBe(65);
  expect(lengthAt(100)).toBe(35);
  expect(log.source.read(100, { limit, tail: 120 })).toMatchObject({ bytes: { length: 20 } });
  expect(log.source.read(120, { limit, tail: 120 })).toBeUndefined();
  expect(log.source.read(125, { limit, tail: 120 })).toBeUndefined();
  expect(() => log.source.read(0, { limit: 0 })).toThrow(RangeError);
});

test("a chunk carries the time of its first byte", () => {
  using log = openTestLog();
  for (const text of ["aa", "bb", "cc"]) {
    log.writer.append(1, Buffer.from(text));
    log.clock.advance(7);
  }
  const times = [0, 1, 2, 3, 4, 5].map((cursor) => log.source.read(cursor, { limit }));
  expect(times.map((chunk) => chunk?.kind === "bytes" && chunk.at_ms)).toEqual([
    0, 0, 7, 7, 14, 14,
  ]);
});

test("reads into a buffer of the caller when it gives one", () => {
  using log = openTestLog();
  log.writer.append(1, Buffer.from("0123456789"));
  const into = Buffer.alloc(4);
  const chunk = log.source.read(3, { limit, into });
  expect(chunk).toMatchObject({ bytes: Buffer.from("3456") });
  expect(into.toString()).toBe("3456");
  const own = log.source.read(3, { limit: 4 });
  log.source.read(0, { limit, into });
  expect(own).toMatchObject({ bytes: Buffer.from("3456") });
});

test("lost and missing ranges that touch are one gap", () => {
  using log = openTestLog();
  log.writer.append(1, Buffer.alloc(90));
  log.writer.skip(320);
  log.writer.append(1, Buffer.alloc(200));
  rmSync(join(log.dir, "0000000000000500"));
  expect(log.source.read(95, { limit })).toEqual({ kind: "gap", from: 95, to: 410 });
  rmSync(join(log.dir, "0000000000000400"));
  expect(log.source.read(95, { limit })).toEqual({ kind: "gap", from: 95, to: 600 });
  expect(log.source.read(600, { limit })).toMatchObject({ bytes: { length: 10 } });
});

test("a lost range that ends with a segment or with several is passed", () => {
  for (const count of [10, 110, 310]) {
    using log = openTestLog();
    log.writer.append(1, Buffer.alloc(90));
    log.writer.skip(count);
    expect([log.writer.tail, log.source.tail()]).toEqual([90 + count, 90 + count]);
    log.writer.append(2, Buffer.from("x"));
    expect(log.source.read(90, { limit })).toEqual({ kind: "gap", from: 90, to: 90 + count });
    expect(log.source.read(90 + count, { limit })).toMatchObject({ channel: 2 });
  }
});

test("lists times, channels, losses and sizes of a range", () => {
  using log = openTestLog();
  log.writer.append(1, Buffer.alloc(95));
  log.clock.advance(3);
  log.writer.mark("resize", 120, 40);
  log.writer.append(2, Buffer.alloc(10));
  log.writer.skip(4);
  log.writer.append(1, Buffer.alloc(1));
  log.writer.mark("resize", 80, 24);
  const all = [
    { kind: "data", offset: 0, at_ms: 0, channel: 1 },
    { kind: "resize", offset: 95, at_ms: 3, cols: 120, rows: 40 },
    { kind: "data", offset: 95, at_ms: 3, channel: 2 },
    { kind: "data", offset: 100, at_ms: 3, channel: 2 },
    { kind: "lost", offset: 105, at_ms: 3 },
    { kind: "data", offset: 109, at_ms: 3, channel: 1 },
  ];
  expect([...log.source.records(0, 999)]).toEqual(all);
  expect([...log.source.records(95, 105)]).toEqual(all.slice(1, 4));
  expect([...log.source.records(96, 100)]).toEqual([]);
  expect([...log.source.records(109, 110)]).toEqual(all.slice(5));
});

test("skips marks of the future, damaged records and half a record at the end", () => {
  using log = openTestLog();
  log.writer.append(1, Buffer.from("aa"));
  log.writer[Symbol.dispose]();
  const record = Buffer.alloc(RECORD_BYTES);
  encodeRecord(record, { offset: 2, time: 5, channel: 9, mark: 77, a: 1, b: 2 });
  appendFileSync(join(log.dir, FIRST_INDEX), record);
  record.writeUInt8(3, 14);
  appendFileSync(join(log.dir, FIRST_INDEX), record);
  appendFileSync(join(log.dir, FIRST_INDEX), record.subarray(0, 10));
  using next = openLogWriter({ dir: log.dir, clock: log.clock });
  next.append(2, Buffer.from("bb"));
  const model = new LogModel();
  model.append(1, Buffer.from("aa"));
  model.append(2, Buffer.from("bb"));
  expect(collect(log.source, 0).held).toEqual(model);
  expect([...log.source.records(0, 4)].map(({ offset }) => offset)).toEqual([0, 2]);
});

test("finds every byte in an index of many blocks, of which one record in nine is damaged", () => {
  using log = openTestLog();
  const writer = openLogWriter({ dir: `${log.dir}-big`, clock: log.clock, segmentBytes: 9000 });
  using source = openLogFiles(`${log.dir}-big`);
  const model = new LogModel();
  for (let offset = 0; offset < 3000; offset += 1)
    writer.append(1 + (offset % 2), Buffer.from([offset & 0xff]));
  const index = openSync(join(`${log.dir}-big`, FIRST_INDEX), "r+");
  for (let slot = 0; slot < 3000; slot += 1) {
    const damaged = slot % 9 === 8;
    if (damaged)
      writeSync(
        index,
        Buffer.alloc(RECORD_BYTES),
        0,
        RECORD_BYTES,
        HEADER_BYTES + slot * RECORD_BYTES,
      );
    // Without its record a byte belongs to the run before it.
    model.append(damaged ? 1 + ((slot - 1) % 2) : 1 + (slot % 2), Buffer.from([slot & 0xff]));
  }
  closeSync(index);
  writer[Symbol.dispose]();
  expect(collect(source, 0, 50).held).toEqual(model);
  // Backwards, so that each has to be searched for.
  for (let cursor = 2999; cursor >= 0; cursor -= 7) {
    expect(source.read(cursor, { limit: 1 })).toMatchObject({ channel: model.channels[cursor] });
  }
});

test("a file that is shorter than the tail promised is a gap, not a loop", () => {
  using log = openTestLog();
  log.writer.append(1, Buffer.alloc(150, "a"));
  expect(log.source.tail()).toBe(150);
  truncateSync(join(log.dir, "0000000000000000"), 40);
  expect(log.source.read(30, { limit })).toMatchObject({ bytes: { length: 10 } });
  expect(log.source.read(40, { limit })).toEqual({ kind: "gap", from: 40, to: 100 });
});

test.each<[string, (writer: LogWriter) => void]>([
  ["bytes", (writer) => void writer.append(1, Buffer.alloc(100, "a"))],
  ["a loss", (writer) => writer.skip(100)],
])(
  "an index that goes back behind %s, as a power cut can leave it, is read to its end",
  (_, fill) => {
    using log = openTestLog();
    const dir = `${log.dir}-cut`;
    const live = (run: (writer: LogWriter) => void) => {
      using writer = openLogWriter({ dir, clock: log.clock, segmentBytes: 1000 });
      run(writer);
    };
    live(fill);
    live(fill);
    // The index reached the disk, the bytes that it speaks of did not.
    truncateSync(join(dir, "0000000000000000"), 50);
    live((writer) => void writer.append(2, Buffer.alloc(200, "c")));
    for (const from of [0, 60, 120]) {
      using source = openLogFiles(dir);
      expect(collect(source, from).cursor).toBe(250);
    }
  },
);

test("refuses a newer log and leaves it as it is", () => {
  using log = openTestLog();
  log.writer.append(1, Buffer.from("x"));
  const path = join(log.dir, FIRST_INDEX);
  const index = readFileSync(path);
  index.writeUInt16LE(2, 8);
  writeFileSync(path, index);
  expect(() => log.source.read(0, { limit })).toThrow(
    expect.objectContaining({ code: "unsupported" }),
  );
  expect(readFileSync(path)).toEqual(index);
});

test("bytes of a segment that were changed on the disk are served as they are", () => {
  using log = openTestLog();
  log.writer.append(1, Buffer.from("abc"));
  writeFileSync(join(log.dir, "0000000000000000"), "aXc");
  expect(log.source.read(0, { limit })).toMatchObject({ bytes: Buffer.from("aXc") });
});
