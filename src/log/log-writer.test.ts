import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { encodeHeader, HEADER_BYTES, RECORD_BYTES } from "./index-format.ts";
import { openLogFiles } from "./log-files.ts";
import {
  type LogWriterOptions,
  openLogWriter,
  RETRY_MS,
  SMALL_BYTES,
  SMALL_TRIES,
} from "./log-writer.ts";
import { Crash, createFaultyIo, type Trouble } from "./testing/faulty-io.ts";
import { collect, firstDifference, LogModel } from "./testing/log-model.ts";
import { openTempDir } from "./testing/temp-dir.ts";

const FIRST = "0000000000000000";

function openTestLog(options: Partial<LogWriterOptions> = {}) {
  using stack = new DisposableStack();
  const temp = stack.use(openTempDir());
  const dir = options.dir ?? join(temp.path, "session", "log");
  const clock = new ManualClock();
  const writer = stack.use(openLogWriter({ dir, clock, segmentBytes: 100, ...options }));
  const owned = stack.move();
  return { dir, clock, writer, [Symbol.dispose]: () => owned.dispose() };
}

function heldDescriptors(dir: string): number {
  const inDir = (fd: string) => {
    try {
      return statSync(`/dev/fd/${fd}`).ino;
    } catch {
      return -1; // closed meanwhile: the listing's own
    }
  };
  const inodes = readdirSync(dir).map((name) => statSync(join(dir, name)).ino);
  return readdirSync("/dev/fd").filter((fd) => inodes.includes(inDir(fd))).length;
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test("makes no file before the first byte, then private ones named after their start", () => {
  using log = openTestLog();
  expect(() => statSync(log.dir)).toThrow("ENOENT");
  expect(log.writer.append(1, Buffer.alloc(150, "x"))).toBe(150);
  const names = [FIRST, `${FIRST}.idx`, "0000000000000100", "0000000000000100.idx"];
  expect(readdirSync(log.dir)).toEqual(names);
  expect(names.map((name) => modeOf(join(log.dir, name)))).toEqual(["600", "600", "600", "600"]);
  expect(modeOf(log.dir)).toBe("700");
  expect(readFileSync(join(log.dir, FIRST), "latin1")).toBe("x".repeat(100));
});

test("writes a record when the channel changes, after 5 ms and at a mark, and for nothing else", () => {
  using log = openTestLog();
  const records = () =>
    (statSync(join(log.dir, `${FIRST}.idx`)).size - HEADER_BYTES) / RECORD_BYTES;
  const after = (run: () => void) => {
    run();
    return records();
  };
  expect(after(() => log.writer.append(1, Buffer.from("a")))).toBe(1);
  expect(after(() => log.writer.append(1, Buffer.from("b")))).toBe(1);
  expect(after(() => log.clock.advance(4))).toBe(1);
  expect(after(() => log.writer.append(1, Buffer.from("c")))).toBe(1);
  expect(after(() => log.writer.append(2, Buffer.from("d")))).toBe(2);
  log.clock.advance(5);
  expect(after(() => log.writer.append(2, Buffer.from("e")))).toBe(3);
  expect(after(() => log.writer.mark("resize", 100, 30))).toBe(4);
  expect(after(() => log.writer.append(2, Buffer.from("f")))).toBe(4);
  expect(after(() => log.writer.skip(3))).toBe(5);
  expect(after(() => log.writer.skip(3))).toBe(5);
  expect(after(() => log.writer.append(2, Buffer.from("g")))).toBe(6);
});

test("counts exactly what is on the disk", () => {
  using log = openTestLog();
  log.writer.append(1, Buffer.alloc(250));
  log.writer.append(2, Buffer.alloc(10));
  const sizes = readdirSync(log.dir).map((name) => statSync(join(log.dir, name)).size);
  expect(log.writer.diskBytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
  using again = openLogWriter({ dir: log.dir, clock: log.clock });
  expect(again.diskBytes).toBe(log.writer.diskBytes);
});

test("goes on at the tail with the log's own segment size, and its time does not go back", () => {
  using log = openTestLog();
  log.clock.advance(1000);
  log.writer.append(1, Buffer.alloc(130, "a"));
  using next = openLogWriter({ dir: log.dir, clock: new ManualClock(0), segmentBytes: 77 });
  expect([next.tail, next.first]).toEqual([130, 0]);
  next.append(1, Buffer.alloc(100, "b"));
  using source = openLogFiles(log.dir);
  const times = [...source.records(0, 230)].map((record) => record.at_ms);
  expect(times).toEqual([1000, 1000, 1000, 1000]);
  expect(collect(source, 0).held.bytes).toEqual([
    ...Buffer.from("a".repeat(130) + "b".repeat(100)),
  ]);
});

test("its time does not go back behind a life that died with a segment just begun", () => {
  using log = openTestLog();
  log.clock.advance(1000);
  log.writer.append(1, Buffer.alloc(100, "a"));
  // The new index gets its header, and the process dies before the first record.
  const writes: Trouble[] = ["none", "crash"];
  const io = createFaultyIo((call) => (call === "writeSync" ? (writes.shift() ?? "none") : "none"));
  using dying = openLogWriter({ dir: log.dir, clock: log.clock, io });
  expect(() => dying.append(1, Buffer.from("b"))).toThrow(Crash);
  using next = openLogWriter({ dir: log.dir, clock: new ManualClock(0) });
  next.append(1, Buffer.from("b"));
  using source = openLogFiles(log.dir);
  expect([...source.records(0, 101)].map((record) => record.at_ms)).toEqual([1000, 1000]);
});

test("holds its two files open, or none when told so", () => {
  using held = openTestLog();
  held.writer.append(1, Buffer.alloc(350));
  expect(heldDescriptors(held.dir)).toBe(2);
  held.writer[Symbol.dispose]();
  held.writer[Symbol.dispose]();
  expect(heldDescriptors(held.dir)).toBe(0);
  using loose = openTestLog({ holdOpen: false });
  for (const channel of [1, 2, 1]) loose.writer.append(channel, Buffer.alloc(50, channel));
  expect(heldDescriptors(loose.dir)).toBe(0);
  using source = openLogFiles(loose.dir);
  expect(collect(source, 0).held.channels).toEqual(
    [1, 2, 1].flatMap((each) => Array(50).fill(each)),
  );
});

test("an append that would pass the limit persists nothing and says so", () => {
  using log = openTestLog({ limitBytes: 120 });
  expect(log.writer.append(1, Buffer.alloc(110))).toBe(110);
  expect(log.writer.append(1, Buffer.alloc(11))).toBe(0);
  expect(log.writer.fault).toMatchObject({ code: "limit" });
  expect(log.writer.append(1, Buffer.alloc(10))).toBe(10);
  expect(log.writer.fault).toBeUndefined();
});

test("an error that is not the disk's is thrown", () => {
  const io = createFaultyIo(() => {
    throw new TypeError("a bug");
  });
  using log = openTestLog({ io });
  expect(() => log.writer.append(1, Buffer.from("x"))).toThrow("a bug");
});

test("refuses a newer log and a foreign one, and leaves them as they are", () => {
  const newer = encodeHeader({ segmentBytes: 100, start: 0, epoch: 0 });
  newer.writeUInt16LE(2, 8);
  const foreign = Buffer.alloc(HEADER_BYTES, "what is this? ");
  for (const [index, code] of [
    [newer, "unsupported"],
    [foreign, "log_damaged"],
  ] as const) {
    using temp = openTempDir();
    writeFileSync(join(temp.path, FIRST), "data");
    writeFileSync(join(temp.path, `${FIRST}.idx`), index);
    const open = () => openLogWriter({ dir: temp.path, clock: new ManualClock() });
    expect(open).toThrow(expect.objectContaining({ code }));
    // Without bytes it shows only at the first append, which must not write either.
    rmSync(join(temp.path, FIRST));
    using writer = open();
    expect(writer.append(1, Buffer.from("x"))).toBe(0);
    expect(writer.fault).toMatchObject({ code });
    expect(readdirSync(temp.path)).toEqual([`${FIRST}.idx`]);
    expect(readFileSync(join(temp.path, `${FIRST}.idx`))).toEqual(index);
  }
});

test("bytes whose index is gone or torn are a gap, and the log goes on behind them", () => {
  for (const header of [undefined, Buffer.from("REINS"), Buffer.alloc(500)]) {
    using log = openTestLog();
    log.writer.append(1, Buffer.alloc(30, "a"));
    log.writer[Symbol.dispose]();
    const index = join(log.dir, `${FIRST}.idx`);
    rmSync(index);
    if (header !== undefined) writeFileSync(index, header);
    using next = openLogWriter({ dir: log.dir, clock: log.clock, segmentBytes: 100 });
    expect(next.tail).toBe(30);
    next.append(2, Buffer.from("b"));
    const model = new LogModel();
    model.lose(30);
    model.append(2, Buffer.from("b"));
    using source = openLogFiles(log.dir);
    expect(collect(source, 0).held).toEqual(model);
  }
});

test("many failed retries leave one record, not one each", () => {
  const troubles: Trouble[] = [];
  using log = openTestLog({ io: createFaultyIo(() => troubles.shift() ?? "none") });
  log.writer.append(1, Buffer.from("a"));
  for (let retry = 0; retry < 20; retry += 1) {
    log.clock.advance(50);
    troubles.push("none", "full");
    expect(log.writer.append(2, Buffer.from("b"))).toBe(0);
    expect(log.writer.fault).toMatchObject({ code: "ENOSPC" });
  }
  log.clock.advance(RETRY_MS);
  expect(log.writer.append(2, Buffer.from("b"))).toBe(1);
  expect(statSync(join(log.dir, `${FIRST}.idx`)).size).toBe(HEADER_BYTES + 2 * RECORD_BYTES);
});

test("skipped bytes become a hole at once, without room for a new record, when the bytes before are lost too", () => {
  let full = false;
  const io = createFaultyIo((call) => (full && call === "writeSync" ? "full" : "none"));
  using log = openTestLog({ io });
  log.writer.append(1, Buffer.from("a"));
  log.writer.skip(5);
  full = true;
  for (let turn = 0; turn < 3; turn += 1) {
    expect(log.writer.append(1, Buffer.from("b"))).toBe(0);
    log.writer.skip(1);
  }
  expect([log.writer.tail, log.writer.lostBytes]).toEqual([9, 8]);
});

test("after a failure the disk is left alone for a moment, but a loss is noted at once", () => {
  let calls = 0;
  let full = false;
  const io = createFaultyIo((call) => {
    calls += 1;
    return full && call === "writeSync" ? "full" : "none";
  });
  const large = SMALL_BYTES + 1;
  using log = openTestLog({ io, segmentBytes: 3 * SMALL_BYTES });
  const failing = () => {
    const before = calls;
    expect(log.writer.append(1, Buffer.alloc(large))).toBe(0);
    log.writer.skip(large);
    return calls - before;
  };
  log.writer.append(1, Buffer.from("a"));
  log.writer.skip(1);
  full = true;
  expect([failing(), log.writer.tail]).toEqual([2, 2 + large]);
  expect([failing(), log.writer.tail]).toEqual([1, 2 + 2 * large]);
  // Here a new segment would have to be made, which fails; after that nothing is tried until it is time.
  expect(failing()).toBeGreaterThan(1);
  expect([failing(), failing(), log.writer.tail]).toEqual([0, 0, 3 * SMALL_BYTES]);
  full = false;
  // There is room, but what is large still waits for its turn.
  expect(failing()).toBe(0);
  log.clock.advance(RETRY_MS);
  expect(log.writer.append(1, Buffer.from("b"))).toBe(1);
  expect(log.writer.tail).toBe(log.writer.lostBytes + 2);
});

test("a small append is tried within the pause as well, and ends it when it is written", () => {
  let full = false;
  const io = createFaultyIo((call) => (full && call === "writeSync" ? "full" : "none"));
  using log = openTestLog({ io, segmentBytes: 10 * SMALL_BYTES });
  const large = Buffer.alloc(SMALL_BYTES + 1, "l");
  const small = large.subarray(1);
  log.writer.append(1, Buffer.from("a"));
  full = true;
  expect(log.writer.append(1, large)).toBe(0);
  log.writer.skip(large.length);
  full = false;
  expect(log.writer.append(1, large)).toBe(0);
  log.writer.skip(large.length);
  expect(log.writer.append(1, small)).toBe(SMALL_BYTES);
  expect(log.writer.fault).toBeUndefined();
  expect(log.writer.append(1, large)).toBe(SMALL_BYTES + 1);
  expect(log.writer.lostBytes).toBe(2 * large.length);
  const model = new LogModel();
  model.append(1, Buffer.from("a"));
  model.lose(2 * large.length);
  model.append(1, small);
  model.append(1, large);
  using source = openLogFiles(log.dir);
  expect(firstDifference(collect(source, 0, 64 * 1024).held, model)).toBe(-1);
});

test("a flood in small pieces is paused too, and pieces that fail do not lengthen the pause", () => {
  let calls = 0;
  let full = false;
  const io = createFaultyIo((call) => {
    calls += 1;
    return full && call === "writeSync" ? "full" : "none";
  });
  using log = openTestLog({ io });
  const piece = () => {
    const kept = log.writer.append(1, Buffer.from("b"));
    if (kept === 0) log.writer.skip(1);
    return kept;
  };
  // The whole segment is taken, so that no loss can be noted in it.
  log.writer.append(1, Buffer.alloc(100));
  full = true;
  for (let turn = 0; turn < 2 * SMALL_TRIES; turn += 1) piece();
  const before = calls;
  for (let turn = 0; turn < 1000; turn += 1) piece();
  expect(calls).toBe(before);
  log.clock.advance(RETRY_MS - 1);
  full = false;
  expect([piece(), calls]).toEqual([0, before]);
  log.clock.advance(1);
  expect(piece()).toBe(1);
});

test("each pause has tries of its own, and small failures keep no large append from its turn", () => {
  let full = false;
  const io = createFaultyIo((call) => (full && call === "writeSync" ? "full" : "none"));
  using log = openTestLog({ io, segmentBytes: 10 * SMALL_BYTES });
  const large = Buffer.alloc(SMALL_BYTES + 1);
  const lose = (bytes: Buffer) => {
    expect(log.writer.append(1, bytes)).toBe(0);
    log.writer.skip(bytes.length);
  };
  log.writer.append(1, Buffer.from("a"));
  full = true;
  for (let pause = 0; pause < 3; pause += 1) {
    for (let turn = 0; turn < 2 * SMALL_TRIES; turn += 1) lose(Buffer.from("b"));
    log.clock.advance(RETRY_MS);
  }
  lose(Buffer.from("b"));
  full = false;
  expect(log.writer.append(1, Buffer.from("c"))).toBe(1);
  full = true;
  lose(large);
  log.clock.advance(RETRY_MS - 1);
  lose(Buffer.from("b"));
  log.clock.advance(1);
  full = false;
  expect(log.writer.append(1, large)).toBe(large.length);
});

test("a loss over whole segments that stops halfway leaves the tail where the files say it is", () => {
  const troubles: Trouble[] = [];
  using log = openTestLog({
    io: createFaultyIo((call) => (call === "ftruncateSync" && troubles.shift()) || "none"),
  });
  log.writer.append(1, Buffer.alloc(90));
  troubles.push("none", "broken");
  log.writer.skip(320);
  using source = openLogFiles(log.dir);
  expect([log.writer.tail, source.tail()]).toEqual([400, 400]);
  expect(log.writer.settle()).toBe(true);
  expect([log.writer.tail, source.tail()]).toEqual([410, 410]);
});

test("a mark made while an append could not be written survives the next one", () => {
  const troubles: Trouble[] = [];
  using log = openTestLog({ io: createFaultyIo(() => troubles.shift() ?? "none") });
  log.writer.append(1, Buffer.from("a"));
  troubles.push("none", "full");
  expect(log.writer.append(2, Buffer.from("b"))).toBe(0);
  log.clock.advance(RETRY_MS);
  expect(log.writer.mark("resize", 90, 30)).toBe(true);
  expect(log.writer.append(3, Buffer.from("c"))).toBe(1);
  using source = openLogFiles(log.dir);
  const kinds = [...source.records(1, 2)].map(({ kind }) => kind);
  expect(kinds).toEqual(["data", "resize", "data"]);
  expect(source.read(1, { limit: 9 })).toMatchObject({ channel: 3 });
});

test("a record that was half replaced is written again before bytes are", () => {
  const troubles: Trouble[] = [];
  using log = openTestLog({ io: createFaultyIo(() => troubles.shift() ?? "none") });
  log.writer.append(1, Buffer.from("a"));
  troubles.push("none", "full");
  expect(log.writer.append(2, Buffer.from("b"))).toBe(0);
  log.clock.advance(RETRY_MS);
  troubles.push("part", "full");
  expect(log.writer.append(3, Buffer.from("b"))).toBe(0);
  log.clock.advance(RETRY_MS);
  expect(log.writer.append(2, Buffer.from("b"))).toBe(1);
  using source = openLogFiles(log.dir);
  expect(source.read(1, { limit: 9 })).toMatchObject({ channel: 2 });
});

test("a reader does not keep a record that is replaced later", () => {
  const troubles: Trouble[] = [];
  using log = openTestLog({ io: createFaultyIo(() => troubles.shift() ?? "none") });
  using source = openLogFiles(log.dir);
  log.writer.append(1, Buffer.from("a"));
  troubles.push("none", "full");
  expect(log.writer.append(2, Buffer.from("b"))).toBe(0);
  expect(source.read(0, { limit: 9 })).toMatchObject({ channel: 1 });
  log.clock.advance(RETRY_MS);
  expect(log.writer.append(3, Buffer.from("b"))).toBe(1);
  expect(source.read(1, { limit: 9 })).toMatchObject({ channel: 3 });
});

test("an index that lost its bytes is not continued", () => {
  using log = openTestLog();
  log.writer.append(1, Buffer.alloc(100, "a"));
  for (const channel of [1, 2, 1, 2]) log.writer.append(channel, Buffer.alloc(10, "b"));
  log.writer[Symbol.dispose]();
  rmSync(join(log.dir, "0000000000000100"));
  using next = openLogWriter({ dir: log.dir, clock: log.clock });
  expect(next.tail).toBe(100);
  next.append(3, Buffer.alloc(40, "c"));
  using source = openLogFiles(log.dir);
  expect(source.read(100, { limit: 999 })).toMatchObject({ channel: 3, bytes: { length: 40 } });
});
