import { mkdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openKeeper } from "#host/testing/open-keeper.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

const RETRY_MS = 1000;

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
