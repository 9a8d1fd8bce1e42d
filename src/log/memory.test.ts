import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { repeats } from "#test/harness/repeats.ts";
import { openLogFiles } from "./log-files.ts";
import { openLogWriter } from "./log-writer.ts";
import { openTempDir } from "./testing/temp-dir.ts";

const KIB = 1024;
/** The index of the shorter log is 1.2 MiB: kept whole, or a twentieth of it for each reader, it is above the bound. */
const APPENDS = repeats({ few: 50_000, full: 100_000 });
const READERS = 20;
const GROWTH_BYTES = 1024 * KIB;

setFlagsFromString("--expose-gc");
const collectGarbage: unknown = runInNewContext("gc");

function liveBytes(): number {
  if (typeof collectGarbage !== "function") throw new Error("this Node gives no garbage collector");
  collectGarbage();
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Says how much memory was in use while it wrote and while all readers had read a part. */
function use(appends: number): number[] {
  using temp = openTempDir();
  const dir = join(temp.path, "log");
  using writer = openLogWriter({ dir, clock: new ManualClock(), segmentBytes: 256 * KIB });
  const byte = Buffer.from("x");
  for (let turn = 0; turn < appends; turn += 1) writer.append(turn % 2, byte);
  const used = [liveBytes()];
  using stack = new DisposableStack();
  const readers = Array.from({ length: READERS }, () => stack.use(openLogFiles(dir)));
  for (let cursor = 0; cursor < appends; cursor += 1) {
    const chunk = readers[cursor % READERS]?.read(cursor, { limit: 64 * KIB });
    if (chunk?.kind !== "bytes" || chunk.channel !== cursor % 2)
      throw new Error(`wrong at ${cursor}`);
    if (cursor % 25_000 === 24_999) used.push(liveBytes());
  }
  return used;
}

test("neither writing nor reading takes memory that grows with the log", {
  timeout: 60_000,
}, () => {
  use(20_000); // Compiled code and caches are there before the measure is taken.
  const before = liveBytes();
  const used = use(APPENDS);
  expect(used).toHaveLength(1 + APPENDS / 25_000);
  for (const bytes of used) expect(bytes - before).toBeLessThan(GROWTH_BYTES);
});
