import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { openLogFiles } from "./log-files.ts";
import { type LogWriter, openLogWriter, RETRY_MS } from "./log-writer.ts";
import { createFaultyIo, type Trouble } from "./testing/faulty-io.ts";
import { collect, LogModel } from "./testing/log-model.ts";
import { openTempDir } from "./testing/temp-dir.ts";

const SEGMENT_BYTES = 100;
const clock = new ManualClock();

interface Case {
  readonly dir: string;
  readonly writer: LogWriter;
}

function withLog(run: (given: Case) => void, options: { holdOpen?: boolean } = {}): void {
  using temp = openTempDir();
  const dir = join(temp.path, "log");
  using writer = openLogWriter({ dir, clock, segmentBytes: SEGMENT_BYTES, ...options });
  writer.append(1, Buffer.alloc(250, "a"));
  run({ dir, writer });
}

function expectGapThen(dir: string, gap: number, bytes: string): void {
  const model = new LogModel();
  model.lose(gap);
  model.append(2, Buffer.from(bytes));
  using source = openLogFiles(dir);
  expect(collect(source, 0).held).toEqual(model);
}

test.each([
  ["removed", (dir: string) => rmSync(dir, { recursive: true })],
  ["moved away", (dir: string) => renameSync(dir, `${dir}.away`)],
  [
    "replaced",
    (dir: string) => {
      renameSync(dir, `${dir}.away`);
      mkdirSync(dir);
      writeFileSync(join(dir, "0000000000000200"), "b".repeat(60));
    },
  ],
])("a directory that was %s is made again, with a gap below the same tail", (_how, spoil) => {
  withLog(({ dir, writer }) => {
    expect(writer.ensurePresent()).toBe(false);
    spoil(dir);
    expect(writer.append(1, Buffer.from("into the void"))).toBe(13);
    expect(writer.ensurePresent()).toBe(true);
    expect(writer.ensurePresent()).toBe(false);
    expect([writer.tail, writer.first]).toEqual([263, 200]);
    writer.append(2, Buffer.from("new"));
    expectGapThen(dir, 263, "new");
  });
});

test.each(["0000000000000200", "0000000000000200.idx"])("a removed %s is made again", (name) => {
  withLog(({ dir, writer }) => {
    rmSync(join(dir, name));
    expect(writer.ensurePresent()).toBe(true);
    writer.append(2, Buffer.from("new"));
    using source = openLogFiles(dir);
    expect(source.read(200, { limit: 100 })).toEqual({ kind: "gap", from: 200, to: 250 });
    expect(source.read(250, { limit: 100 })).toMatchObject({
      channel: 2,
      bytes: Buffer.from("new"),
    });
  });
});

test("a reader under whom only the index was made again does not read new bytes by the old one", () => {
  withLog(({ dir, writer }) => {
    using source = openLogFiles(dir);
    expect(source.read(249, { limit: 9 })).toMatchObject({ channel: 1 });
    rmSync(join(dir, "0000000000000200.idx"));
    writer.ensurePresent();
    writer.append(2, Buffer.from("new"));
    expect(source.read(250, { limit: 9 })).toMatchObject({ channel: 2 });
  });
});

test("a segment that fills up in a removed directory is noticed when the next one is made", () => {
  withLog(({ dir, writer }) => {
    rmSync(dir, { recursive: true });
    writer.append(2, Buffer.alloc(60, "b"));
    expect(readdirSync(dir)).toEqual(["0000000000000300", "0000000000000300.idx"]);
    expect([writer.tail, writer.first]).toEqual([310, 300]);
    expectGapThen(dir, 300, "b".repeat(10));
    expect(writer.ensurePresent()).toBe(false);
  });
});

test("files that are not held open are looked for at each append", () => {
  withLog(
    ({ dir, writer }) => {
      rmSync(dir, { recursive: true });
      expect(writer.append(2, Buffer.from("new"))).toBe(3);
      expect(writer.fault).toBeUndefined();
      expectGapThen(dir, 250, "new");
    },
    { holdOpen: false },
  );
});

test("says that it had to, also when no file is held open", () => {
  withLog(
    ({ dir, writer }) => {
      expect(writer.ensurePresent()).toBe(false);
      rmSync(dir, { recursive: true });
      expect(writer.ensurePresent()).toBe(true);
      expect(writer.ensurePresent()).toBe(false);
    },
    { holdOpen: false },
  );
});

test("a reader that held the removed files finishes them, then finds the new ones", () => {
  withLog(({ dir, writer }) => {
    using source = openLogFiles(dir);
    expect(source.read(240, { limit: 4 })).toMatchObject({ offset: 240, channel: 1 });
    rmSync(dir, { recursive: true });
    writer.append(1, Buffer.from("void"));
    writer.ensurePresent();
    writer.append(2, Buffer.from("new"));
    const next = [244, 250, 254].map((cursor) => source.read(cursor, { limit: 100 }));
    expect(next).toEqual([
      { kind: "bytes", offset: 244, channel: 1, at_ms: 0, bytes: Buffer.from("aaaaaa") },
      { kind: "bytes", offset: 250, channel: 1, at_ms: 0, bytes: Buffer.from("void") },
      { kind: "bytes", offset: 254, channel: 2, at_ms: 0, bytes: Buffer.from("new") },
    ]);
  });
});

test("a reader at lost bytes of removed files sees only the lost ones as a gap", () => {
  withLog(({ dir, writer }) => {
    writer.skip(5);
    using source = openLogFiles(dir);
    expect(source.read(249, { limit: 9 })).toMatchObject({ offset: 249, channel: 1 });
    rmSync(dir, { recursive: true });
    writer.ensurePresent();
    writer.append(2, Buffer.from("new"));
    expect(source.read(250, { limit: 9 })).toEqual({ kind: "gap", from: 250, to: 255 });
  });
});

test("a tail that was seen stays when the files are gone for good", () => {
  withLog(({ dir }) => {
    using source = openLogFiles(dir);
    expect(source.tail()).toBe(250);
    rmSync(dir, { recursive: true });
    expect(source.tail()).toBe(250);
    mkdirSync(dir);
    writeFileSync(join(dir, "0000000000000000"), "less");
    expect(source.tail()).toBe(250);
    rmSync(dir, { recursive: true });
    expect(source.read(10, { limit: 9 })).toEqual({ kind: "gap", from: 10, to: 250 });
    expect(source.read(250, { limit: 9 })).toBeUndefined();
  });
});

test("a disk that fails while the files are made again is tried again by the next append", () => {
  for (let good = 0; good < 6; good += 1) {
    using temp = openTempDir();
    const dir = join(temp.path, "log");
    const troubles: Trouble[] = [];
    const io = createFaultyIo(() => troubles.shift() ?? "none");
    using writer = openLogWriter({ dir, clock, segmentBytes: SEGMENT_BYTES, io });
    writer.append(1, Buffer.alloc(250, "a"));
    rmSync(dir, { recursive: true });
    troubles.push(...Array<Trouble>(good).fill("none"), "broken");
    expect(writer.ensurePresent()).toBe(true);
    expect(writer.fault).toMatchObject({ code: "EIO" });
    clock.advance(RETRY_MS);
    expect(writer.append(2, Buffer.from("new"))).toBe(3);
    expectGapThen(dir, 250, "new");
  }
});
