import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

/** In a process of its own: without descriptors the test itself could do nothing. */
const PROGRAM = `
  import { spawn } from "node:child_process";
  import { closeSync, openSync } from "node:fs";
  import { findSpawnRefusal } from "#base/spawn-refusal.ts";
  const held = [];
  try { for (;;) held.push(openSync("/dev/null")); } catch {}
  const said = [];
  for (let free = 0; free < 3; free += 1) {
    const refusal = findSpawnRefusal(spawn("true", { stdio: "pipe" }));
    said.push(refusal === undefined ? "streams" : (await refusal).code);
    closeSync(held.pop());
  }
  process.stdout.write(JSON.stringify(said));
`;

test("a child that there are no descriptors for is refused by name, and does not end who wanted it", () => {
  const node = [process.execPath, "--input-type=module-typescript", "-e", PROGRAM];
  const { stdout, stderr } = spawnSync("prlimit", ["--nofile=64", ...node], { encoding: "utf8" });
  expect([stdout, stderr]).toEqual(['["EMFILE","EMFILE","EMFILE"]', ""]);
});
