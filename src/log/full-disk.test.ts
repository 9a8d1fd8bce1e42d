import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { openLogFiles } from "./log-files.ts";
import { openLogWriter, RETRY_MS } from "./log-writer.ts";
import { collect, LogModel } from "./testing/log-model.ts";
import { openSmallDisk } from "./testing/small-disk.ts";

const KIB = 1024;
const SEGMENT_BYTES = 32 * KIB;
const CHUNK = 3000;

/** A disk of 256 KiB of which half is taken by something that can be removed. */
function openHalfFullDisk() {
  const disk = openSmallDisk(256 * KIB);
  const ballast = join(disk.path, "ballast");
  if (disk.refused === undefined) writeFileSync(ballast, Buffer.alloc(128 * KIB));
  return { disk, log: join(disk.path, "log"), free: () => rmSync(ballast) };
}

const permission = /permission denied|not permitted|must be superuser|only root/i;

test("a terminal goes on while a real disk is full, and what was lost is a gap", {
  timeout: 60_000,
}, () => {
  const { disk, log, free } = openHalfFullDisk();
  using _disk = disk;
  if (disk.refused !== undefined) {
    expect(disk.refused).toMatch(permission);
    return;
  }
  const clock = new ManualClock();
  using writer = openLogWriter({ dir: log, clock, segmentBytes: SEGMENT_BYTES });
  const model = new LogModel();
  const print = (turn: number) => {
    const bytes = Buffer.alloc(CHUNK, turn);
    const count = writer.append(1 + (turn % 2), bytes);
    writer.skip(CHUNK - count);
    model.append(1 + (turn % 2), bytes.subarray(0, count));
    model.lose(CHUNK - count);
    clock.advance(1);
    return count;
  };
  let turn = 1;
  while (print(turn) === CHUNK) turn += 1;
  expect(writer.fault).toMatchObject({ code: "ENOSPC" });
  for (const end = turn + 60; turn < end; turn += 1) print(turn);
  free();
  clock.advance(RETRY_MS);
  expect(print(turn)).toBe(CHUNK);
  expect(writer.fault).toBeUndefined();
  expect(writer.tail).toBe(model.tail);
  using source = openLogFiles(log);
  expect(collect(source, 0, 64 * KIB).held).toEqual(model);
});

test("an agent keeps the rest and loses nothing when there is room again", {
  timeout: 60_000,
}, () => {
  const { disk, log, free } = openHalfFullDisk();
  using _disk = disk;
  if (disk.refused !== undefined) {
    expect(disk.refused).toMatch(permission);
    return;
  }
  const clock = new ManualClock();
  using writer = openLogWriter({ dir: log, clock, segmentBytes: SEGMENT_BYTES });
  const all = Buffer.alloc(200 * KIB, "an event\n");
  let done = 0;
  for (let tries = 0; tries < 50; tries += 1) {
    done += writer.append(1, all.subarray(done));
    clock.advance(RETRY_MS);
  }
  expect(writer.fault).toMatchObject({ code: "ENOSPC" });
  expect([done > 0, done < all.length, writer.tail]).toEqual([true, true, done]);
  free();
  expect(writer.append(1, all.subarray(done))).toBe(all.length - done);
  using source = openLogFiles(log);
  expect(Buffer.from(collect(source, 0, 64 * KIB).held.bytes).equals(all)).toBe(true);
});
