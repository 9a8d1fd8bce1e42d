import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { watchFile } from "./data-dir-watch.ts";

const ONE_LOOK_MS = 1000;

test("a file that is removed or replaced is told once, one that changes is not", () => {
  using temp = openTempDir();
  const path = join(temp.path, "host.lock");
  writeFileSync(path, "");
  const clock = new ManualClock();
  let gone = 0;
  using _watch = watchFile(path, clock, () => {
    gone += 1;
  });
  writeFileSync(path, "changed");
  clock.advance(ONE_LOOK_MS);
  expect(gone).toBe(0);
  rmSync(path);
  clock.advance(ONE_LOOK_MS);
  clock.advance(ONE_LOOK_MS);
  expect(gone).toBe(1);
  expect(clock.timers).toBe(0);
});
