import { readdirSync, readFileSync, writeFileSync } from "node:fs";
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
