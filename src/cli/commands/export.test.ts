import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { save } from "./export.ts";

async function* pieces(fails: boolean): AsyncGenerator<Buffer, void, void> {
  yield Buffer.from("new ");
  if (fails) throw new Error("cut off");
  yield Buffer.from("words");
}

test("a file is replaced when all of it is there, and stays as it was when it broke off", async () => {
  using dir = openTempDir();
  const file = join(dir.path, "out.txt");
  writeFileSync(file, "old");
  await expect(save(pieces(true), file)).rejects.toThrow("cut off");
  expect([readdirSync(dir.path), readFileSync(file, "utf8")]).toEqual([["out.txt"], "old"]);
  expect(await save(pieces(false), file)).toBe(9);
  expect([readdirSync(dir.path), readFileSync(file, "utf8")]).toEqual([["out.txt"], "new words"]);
});

test("a disk that is full while the next piece is waited for is said", async () => {
  async function* slowly(): AsyncGenerator<Buffer, void, void> {
    yield Buffer.from("first");
    // Others come there behind it, so it has been tried by then.
    for (let at = 0; at < 20; at += 1) await writeFile("/dev/full", "x").catch(() => undefined);
    yield Buffer.from("second");
  }
  await expect(save(slowly(), "/dev/full")).rejects.toMatchObject({ code: "disk_full" });
});

test("what was interrupted and ends in order is no file", async () => {
  using dir = openTempDir();
  const file = join(dir.path, "out.txt");
  const signal = AbortSignal.abort(new Error("Ctrl-C"));
  await expect(save(pieces(false), file, signal)).rejects.toThrow("Ctrl-C");
  expect(readdirSync(dir.path)).toEqual([]);
});
