import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { follow, readRange } from "./follow.ts";
import { openLogFiles } from "./log-files.ts";
import type { LogSource } from "./log-source.ts";
import { openLogWriter } from "./log-writer.ts";
import { TailSignal } from "./tail-signal.ts";
import { Collected, LogModel } from "./testing/log-model.ts";
import { openTempDir } from "./testing/temp-dir.ts";

function openTestLog() {
  using stack = new DisposableStack();
  const temp = stack.use(openTempDir());
  const dir = join(temp.path, "log");
  const writer = stack.use(openLogWriter({ dir, clock: new ManualClock(), segmentBytes: 100 }));
  const tails = new TailSignal();
  const model = new LogModel();
  const append = (channel: number, bytes: Uint8Array) => {
    writer.append(channel, bytes);
    model.append(channel, bytes);
    tails.advance(writer.tail);
  };
  const owned = stack.move();
  return { dir, writer, tails, model, append, [Symbol.dispose]: () => owned.dispose() };
}

type TestLog = ReturnType<typeof openTestLog>;

/** Follows until it has everything up to `to`. */
async function followTo(log: TestLog, from: number, to: () => number): Promise<Collected> {
  using source = openLogFiles(log.dir);
  const { signal } = new AbortController();
  const collected = new Collected(from);
  for await (const chunk of follow(source, from, { tails: log.tails, limit: 13, signal })) {
    collected.add(chunk);
    if (collected.cursor >= to()) break;
  }
  return collected;
}

const append = fc.record({
  channel: fc.integer({ min: 1, max: 2 }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 60 }),
  /** A new follower, and from which part of the log. */
  joins: fc.option(fc.nat(100), { freq: 3 }),
});

test("history and live are one: followers that join at any time get the same bytes", {
  timeout: 60_000,
}, async () => {
  const appends = fc.array(append, { minLength: 1, maxLength: 40, size: "medium" });
  await fc.assert(
    fc.asyncProperty(appends, async (given) => {
      using log = openTestLog();
      const total = given.reduce((sum, { bytes }) => sum + bytes.length, 0);
      const followers: Promise<Collected>[] = [];
      for (const { channel, bytes, joins } of given) {
        const from = Math.floor(((joins ?? 0) / 100) * log.writer.tail);
        if (joins !== null) followers.push(followTo(log, from, () => total));
        log.append(channel, bytes);
        // Lets followers run between appends, at whatever await they are.
        for (let turn = bytes[0] ?? 0; turn > 200; turn -= 10) await undefined;
      }
      for (const { from, held } of await Promise.all(followers)) {
        expect(held).toEqual(log.model.since(from));
      }
      expect(log.tails.waiting).toBe(0);
    }),
    { numRuns: 40 },
  );
});

test("ends when aborted: while it waits, while it reads, and before it began", async () => {
  using log = openTestLog();
  log.append(1, Buffer.alloc(50));
  using source = openLogFiles(log.dir);
  for (const after of [0, 1, 2]) {
    const abort = new AbortController();
    const chunks = follow(source, 0, { tails: log.tails, limit: 25, signal: abort.signal });
    for (let read = 0; read < after; read += 1)
      expect(await chunks.next()).toMatchObject({ done: false });
    const pending = chunks.next();
    abort.abort();
    const first = await pending;
    if (first.done !== true) expect(await chunks.next()).toMatchObject({ done: true });
    expect(log.tails.waiting).toBe(0);
  }
});

test("passes on what its source or its tails throw", async () => {
  using log = openTestLog();
  log.append(1, Buffer.alloc(5));
  using source = openLogFiles(log.dir);
  const { signal } = new AbortController();
  const past = follow(source, 6, { tails: log.tails, limit: 9, signal });
  await expect(past.next()).rejects.toMatchObject({ code: "offset_out_of_range" });
  const broken = { current: () => 5, moved: () => Promise.reject(new Error("no more news")) };
  const cut = follow(source, 5, { tails: broken, limit: 9, signal });
  await expect(cut.next()).rejects.toThrow("no more news");
});

test("does not wait for news of what the files already hold", async () => {
  using log = openTestLog();
  log.writer.append(1, Buffer.from("there"));
  using source = openLogFiles(log.dir);
  const { signal } = new AbortController();
  const chunks = follow(source, 0, { tails: new TailSignal(), limit: 9, signal });
  expect((await chunks.next()).value).toMatchObject({ offset: 0, bytes: Buffer.from("there") });
  await chunks.return();
});

test("a long history gives way to the others of the process", async () => {
  const MIB = 1024 * 1024;
  const source: LogSource = {
    tail: () => 8 * MIB,
    first: () => 0,
    read: (offset) =>
      offset === 8 * MIB
        ? undefined
        : { kind: "bytes", offset, channel: 1, at_ms: 0, bytes: new Uint8Array(MIB) },
    [Symbol.dispose]: () => undefined,
  };
  let turns = 0;
  const count = () => {
    turns += 1;
    handle = setImmediate(count);
  };
  let handle = setImmediate(count);
  for await (const _ of readRange(source, 0, { to: 8 * MIB, limit: MIB }));
  clearImmediate(handle);
  expect(turns).toBeGreaterThanOrEqual(7);
});
