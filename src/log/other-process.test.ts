import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { systemClock } from "#base/clock.ts";
import { defined } from "#contract/values/defined.ts";
import { openLogFiles } from "./log-files.ts";
import { openLogWriter } from "./log-writer.ts";
import { type Child, openChild } from "./testing/child.ts";
import { Collected, collect, firstDifference, LOST, LogModel } from "./testing/log-model.ts";
import { piecesFrom } from "./testing/pattern.ts";
import { openTempDir } from "./testing/temp-dir.ts";

const TOTAL = 150_000;
const timeout = 60_000;

function expected(seed: number, tail: number): LogModel {
  const model = new LogModel();
  for (const { channel, bytes } of piecesFrom(seed, 0)) {
    if (model.tail >= tail) break;
    model.append(channel, bytes);
  }
  model.cut(tail);
  return model;
}

/** Asks a reading process for a range and puts its answer together. */
async function follow(child: Child, from: number, limit: number): Promise<Collected> {
  child.send(JSON.stringify({ from, to: TOTAL, limit }));
  const collected = new Collected(from);
  for (const [offset, other, base64] of JSON.parse(await child.line())) {
    if (base64 === undefined) collected.add({ kind: "gap", from: offset, to: other });
    else
      collected.add({
        kind: "bytes",
        offset,
        channel: other,
        at_ms: 0,
        bytes: Buffer.from(base64, "base64"),
      });
  }
  return collected;
}

/** Writes while the readers read; gives way between bursts only so that their requests can leave this process. */
async function writeTotal(dir: string, retainBytes?: number): Promise<void> {
  const limits = defined({ retainBytes });
  using writer = openLogWriter({ dir, clock: systemClock, segmentBytes: 8192, ...limits });
  for (const { offset, channel, bytes } of piecesFrom(1, 0)) {
    if (offset >= TOTAL) return;
    writer.append(channel, bytes);
    if (offset % 16 === 0) await setImmediate();
  }
}

test("readers in other processes see the same bytes on the same channels while they are written", {
  timeout,
}, async () => {
  using dir = openTempDir();
  const log = join(dir.path, "log");
  await using early = openChild("reader-child.ts", [log]);
  await using eager = openChild("reader-child.ts", [log]);
  await Promise.all([early.line(), eager.line()]);
  const answers = Promise.all([follow(early, 0, 65_536), follow(eager, 0, 100)]);
  await writeTotal(log);
  const model = expected(1, TOTAL);
  for (const { held } of await answers) {
    held.cut(TOTAL);
    expect(firstDifference(held, model)).toBe(-1);
  }
  const late = await follow(early, 77_777, 4096);
  late.held.cut(TOTAL - 77_777);
  expect(firstDifference(late.held, model.since(77_777))).toBe(-1);
});

test("a reader in another process gets a gap for what was evicted before it came, and nothing wrong", {
  timeout,
}, async () => {
  using dir = openTempDir();
  const log = join(dir.path, "log");
  await using child = openChild("reader-child.ts", [log]);
  await child.line();
  const answer = follow(child, 0, 512);
  await writeTotal(log, 64 * 1024);
  const { held } = await answer;
  const after = await follow(child, 0, 65_536);
  const model = expected(1, held.tail);
  for (const read of [held, after.held]) {
    const gone = read.channels.flatMap((channel, offset) => (channel === LOST ? [offset] : []));
    for (const offset of gone) {
      model.channels[offset] = LOST;
      model.bytes[offset] = 0;
    }
    expect(firstDifference(read, model)).toBe(-1);
    expect(gone.every((offset) => offset >= 8192)).toBe(true);
  }
  expect(after.held.channels).toContain(LOST);
});

test("a writer killed at any moment leaves whole pieces of truth, life after life", {
  timeout,
}, async () => {
  using dir = openTempDir();
  const log = join(dir.path, "log");
  for (let life = 1; life <= 12; life += 1) {
    await using child = openChild("writer-child.ts", [log, "7", "4096"]);
    const lines = 1 + ((life * 37) % 300);
    let published = 0;
    for (let line = 0; line < lines; line += 1) published = Number(await child.line());
    await child.kill();
    using source = openLogFiles(log);
    expect(source.tail()).toBeGreaterThanOrEqual(published);
    const { held } = collect(source, 0, 4096);
    expect(held.tail).toBe(source.tail());
    expect(firstDifference(held, expected(7, held.tail))).toBe(-1);
  }
});
