import { expect, test } from "vitest";
import { ScreenWriter } from "./screen-writer.ts";

const LIVE = { isLive: true };
const OLD = { isLive: false };

test("a writer waits while too much is not parsed, and goes on as soon as there is room", async () => {
  const { target, parseNext } = createTarget();
  using writer = new ScreenWriter(target, { mostBytes: 10 });
  expect(await isSettled(writer.write("12345", LIVE))).toBe(true);
  const second = writer.write("67890", LIVE);
  expect(await isSettled(second)).toBe(false);
  parseNext();
  expect(await isSettled(second)).toBe(true);
});

test("settled waits for the last byte", async () => {
  const { target, parseNext } = createTarget();
  using writer = new ScreenWriter(target);
  expect(await isSettled(writer.settled())).toBe(true);
  void writer.write("a", LIVE);
  void writer.write("b", LIVE);
  const settled = writer.settled();
  parseNext();
  expect(await isSettled(settled)).toBe(false);
  parseNext();
  expect(await isSettled(settled)).toBe(true);
});

test("says of what is parsed just now whether it is live", () => {
  const seen: boolean[] = [];
  const { target, parseNext } = createTarget(() => seen.push(writer.isLive));
  using writer = new ScreenWriter(target);
  void writer.write("old", OLD);
  void writer.write("new", LIVE);
  void writer.write("old", OLD);
  parseNext();
  parseNext();
  parseNext();
  expect(seen).toEqual([false, true, false]);
  expect(writer.isLive).toBe(false);
});

test("an emulator that parses at once is asked in time", () => {
  const seen: boolean[] = [];
  using writer = new ScreenWriter({
    write: (_, done) => {
      seen.push(writer.isLive);
      done();
    },
  });
  void writer.write("x", LIVE);
  expect(seen).toEqual([true]);
});

test("a string without an end is left out, also by halves, until the emulator is reset", async () => {
  const written: string[] = [];
  using writer = new ScreenWriter({
    write: (data, done) => {
      written.push(new TextDecoder().decode(data));
      done();
    },
  });
  void writer.write("before\x1b]0;", OLD);
  for (let count = 0; count < 300; count += 1) void writer.write("T".repeat(64 * 1024), LIVE);
  expect(written.join("").length).toBeLessThan(9000);
  void writer.write("\x07after", LIVE);
  expect(written.at(-1)).toBe("after");
  void writer.write(`\x1b_${"x".repeat(10_000)}`, LIVE);
  writer.restart();
  void writer.write("anew", LIVE);
  expect(written.at(-1)).toBe("anew");
  await writer.settled();
});

test("nobody waits for an emulator that is gone", async () => {
  const { target } = createTarget();
  const writer = new ScreenWriter(target, { mostBytes: 1 });
  const written = writer.write("abc", LIVE);
  const settled = writer.settled();
  writer[Symbol.dispose]();
  await Promise.all([written, settled, writer.write("more", LIVE), writer.settled()]);
});

function createTarget(onParse: () => void = () => undefined) {
  const parsing: (() => void)[] = [];
  return {
    target: {
      write: (_: unknown, done: () => void) =>
        void parsing.push(() => {
          onParse();
          done();
        }),
    },
    parseNext: () => parsing.shift()?.(),
  };
}

async function isSettled(promise: Promise<void>): Promise<boolean> {
  const pending = Symbol("pending");
  // Two turns of the queue of promises: enough for one that has settled.
  const later = Promise.resolve().then(() => Promise.resolve(pending));
  return (await Promise.race([promise, later])) !== pending;
}
