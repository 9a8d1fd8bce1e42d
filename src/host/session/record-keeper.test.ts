import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openKeeper } from "#host/testing/open-keeper.ts";
import { openSmallDisk } from "#log/testing/small-disk.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { readRecord } from "./session-record.ts";

const RETRY_MS = 1000;
const MIB = 1024 * 1024;

test("a record whose last change could not be written is written as soon as it can be", () => {
  using dir = openTempDir();
  const path = join(dir.path, "session.json");
  const { clock, keeper } = openKeeper(dir.path);
  // What stands in the way of the file; a full disk fails in the same place.
  mkdirSync(path);
  keeper.update({ title: "after" });
  clock.advance(3 * RETRY_MS);
  expect(keeper.isWritten).toBe(false);
  rmdirSync(path);
  clock.advance(RETRY_MS);
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ title: "after" });
  expect(keeper.isWritten).toBe(true);
});

test("a record is written over itself on a full disk, and stays whole where that has no room either", () => {
  using disk = openSmallDisk(MIB);
  if (disk.refused !== undefined) {
    expect(disk.refused).toMatch(/permi|root|superuser|ENOENT/i);
    return;
  }
  const { clock, keeper } = openKeeper(disk.path);
  keeper.update({ title: "before" });
  const filler = join(disk.path, "filler");
  expect(() => writeFileSync(filler, Buffer.alloc(2 * MIB))).toThrow("ENOSPC");
  const titleOf = () => {
    const read = readRecord(disk.path);
    return read.ok ? read.record.title : read.problem;
  };
  for (const title of ["a longer one", ""]) {
    keeper.update({ title });
    expect([titleOf(), keeper.isWritten]).toEqual([title, true]);
  }
  const long = "long ".repeat(1000);
  keeper.update({ title: long });
  expect([titleOf(), keeper.isWritten]).toEqual(["", false]);
  rmSync(filler);
  clock.advance(RETRY_MS);
  expect([titleOf(), keeper.isWritten]).toEqual([long, true]);
  expect(readdirSync(disk.path)).toEqual(["session.json"]);
});

test("a record whose directory was removed is not tried again", () => {
  using dir = openTempDir();
  const folder = join(dir.path, "removed");
  mkdirSync(folder);
  const { clock, keeper } = openKeeper(folder);
  rmSync(folder, { recursive: true });
  keeper.update({ title: "after" });
  expect(keeper.isWritten).toBe(true);
  mkdirSync(folder);
  clock.advance(10 * RETRY_MS);
  expect(() => readFileSync(join(folder, "session.json"))).toThrow("ENOENT");
});
