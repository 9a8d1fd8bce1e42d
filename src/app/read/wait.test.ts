import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import type { OperationInput } from "#contract/operations.ts";
import { defined } from "#contract/values/defined.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { repeats } from "#test/harness/repeats.ts";
import {
  exitedState,
  openWrittenSession,
  WRITTEN_SESSION,
  type WrittenSession,
} from "#test/harness/written-session.ts";
import { openPatterns } from "./patterns.ts";
import { createWaitOperations } from "./wait.ts";

type Wish = Omit<OperationInput<"session.wait">, "session_id" | "timeout_ms"> & {
  readonly timeout_ms?: number;
};

function openWaits(session: WrittenSession) {
  const patterns = openPatterns();
  const operations = createWaitOperations(
    { hosts: session.hosts, patterns, clock: session.clock },
    createTestCaller(),
  );
  return {
    wait: (wish: Wish, signal?: AbortSignal) =>
      operations["session.wait"](
        { session_id: WRITTEN_SESSION, timeout_ms: 60_000, ...wish },
        defined({ signal }),
      ),
    [Symbol.dispose]: () => patterns[Symbol.dispose](),
  };
}

/** A wait has begun when its timer runs. */
const begun = (session: WrittenSession, timers = 1) =>
  waitFor("the wait to begin", () => session.clock.timers >= timers);

test("a text in history is found at once, and the next wait goes on behind it", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  session.print("ü ready, ready");
  const first = await waits.wait({ for: "text", text: "ready" });
  expect(first).toEqual({
    matched: true,
    for: "text",
    offset: 3,
    end: 8,
    text: "ready",
    tail: 15,
    state: { kind: "running" },
  });
  expect(await waits.wait({ for: "text", text: "ready", since: first.end })).toMatchObject({
    offset: 10,
    end: 15,
  });
});

test("a text that comes in pieces is found when its last byte is there", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  session.print("old ready");
  const waiting = waits.wait({ for: "text", text: "ready", since: "tail" });
  await begun(session);
  for (const piece of ["re", "a", "dy"]) session.print(piece);
  expect(await waiting).toMatchObject({ matched: true, offset: 9, end: 14 });
});

test("a pattern that comes in pieces is found", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  const waiting = waits.wait({ for: "regex", pattern: "^\\$ $" });
  await begun(session);
  for (const piece of ["make\n", "ok 100 $\n", "$", " "]) session.print(piece);
  expect(await waiting).toMatchObject({ matched: true, offset: 14, end: 16, text: "$ " });
});

test("the middle of a line is not its start for a pattern either", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  session.print("one two\ntwo");
  const wish: Wish = { for: "regex", pattern: "^two", since: 4 };
  expect(await waits.wait(wish)).toMatchObject({ offset: 8, end: 11 });
});

test("a timeout is a normal answer, from which a next wait misses nothing", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  session.print("all is rea");
  const waiting = waits.wait({ for: "text", text: "ready", timeout_ms: 500 });
  await begun(session);
  session.clock.advance(500);
  const answer = await waiting;
  expect(answer).toMatchObject({ matched: false, offset: 7, end: 7, tail: 10 });
  expect(answer).not.toHaveProperty("text");
  session.print("dy");
  expect(
    await waits.wait({ for: "text", text: "ready", since: answer.end, timeout_ms: 0 }),
  ).toMatchObject({ matched: true, offset: 7 });
});

test.each<[string, Wish, boolean]>([
  ["a text that is there", { for: "text", text: "there" }, true],
  ["a text that is not there", { for: "text", text: "nowhere" }, false],
  ["a pattern that is there", { for: "regex", pattern: "th?ere$" }, true],
  ["a pattern that is not there", { for: "regex", pattern: "nowhere" }, false],
  ["output", { for: "output" }, true],
  ["output behind the tail", { for: "output", since: "tail" }, false],
  ["an exit", { for: "exit" }, false],
  ["silence", { for: "idle", idle_ms: 1 }, false],
])("without any time a wait only looks: %s", async (_, wish, matched) => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  session.print("it is there");
  expect(await waits.wait({ ...wish, timeout_ms: 0 })).toMatchObject({ matched });
});

test("output is the first byte from there on that is still kept", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  session.print("some");
  session.lose(6);
  const waiting = waits.wait({ for: "output", since: 4 });
  await begun(session);
  session.print("more");
  expect(await waiting).toMatchObject({ matched: true, offset: 10, end: 14, tail: 14 });
});

test("nothing matches across bytes that were lost", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  session.print("rea");
  session.lose(5);
  session.print("dy ready");
  const expected = { matched: true, offset: 11, end: 16 };
  expect(await waits.wait({ for: "text", text: "ready" })).toMatchObject(expected);
  expect(await waits.wait({ for: "regex", pattern: "rea[^]{0,9}dy" })).toMatchObject(expected);
});

test("what was evicted is passed over, also when the wait asks for it", async () => {
  using session = openWrittenSession({}, { segmentBytes: 64, retainBytes: 1024 });
  using waits = openWaits(session);
  for (let line = 0; line < 100; line += 1) session.print(`line ${line} ${"-".repeat(50)}\n`);
  const wish: Wish = { for: "text", text: "line 99", since: 200 };
  expect(await waits.wait(wish)).toMatchObject({ matched: true });
  expect(await waits.wait({ for: "text", text: "line 20 ", timeout_ms: 0 })).toMatchObject({
    matched: false,
  });
});

test.each<Wish>([
  { for: "text", text: "a", since: 99 },
  { for: "regex", pattern: "a", since: 99 },
  { for: "output", since: 99 },
])("an offset behind the tail is out of range for $for", async (wish) => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  session.print("a");
  await expect(waits.wait(wish)).rejects.toMatchObject({ code: "offset_out_of_range" });
  expect(session.hosts.all()[0].followed).toBe(0);
});

test("an exit is told with the tail of that moment, before and after the rest is printed", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  session.print("12345");
  const waiting = waits.wait({ for: "exit" });
  await begun(session);
  session.enter(exitedState(5, { final: false }));
  const expected = { matched: true, offset: 5, end: 5, state: { kind: "exited" } };
  expect(await waiting).toMatchObject(expected);
  session.print("late");
  expect(await waits.wait({ for: "exit" })).toMatchObject({ ...expected, tail: 9 });
});

test("a lost session has ended as well", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  session.print("12345");
  session.enter({ kind: "lost", reason: "host_lost" });
  expect(await waits.wait({ for: "exit" })).toMatchObject({ matched: true, offset: 5 });
});

test.each<Wish>([
  { for: "text", text: "late" },
  { for: "regex", pattern: "late" },
  { for: "output", since: "tail" },
])("after the exit a wait for $for goes on until nobody can print any more", async (wish) => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  session.print("early");
  session.enter(exitedState(5, { final: false }));
  const found = waits.wait(wish);
  await begun(session);
  session.print("late");
  expect(await found).toMatchObject({ matched: true, offset: 5, end: 9 });
  const missed = waits.wait({ ...wish, since: "tail" });
  await begun(session);
  session.enter(exitedState(5, { final: true }));
  expect(await missed).toMatchObject({ matched: false });
  expect(await waits.wait({ ...wish, since: "tail" })).toMatchObject({ matched: false });
});

test("silence is measured from the last output during the wait", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  session.print("old");
  const waiting = waits.wait({ for: "idle", idle_ms: 100 });
  await begun(session, 2);
  let isDone = false;
  void waiting.then(() => {
    isDone = true;
  });
  session.clock.advance(99);
  session.print("new");
  // The wait needs nothing but its turn to hear of it.
  await new Promise(setImmediate);
  session.clock.advance(99);
  await new Promise(setImmediate);
  expect(isDone).toBe(false);
  session.clock.advance(1);
  expect(await waiting).toMatchObject({ matched: true, offset: 6, end: 6 });
});

test("what has exited is silent at once", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  const waiting = waits.wait({ for: "idle", idle_ms: 10_000 });
  await begun(session, 2);
  session.enter(exitedState(0, { final: false }));
  expect(await waiting).toMatchObject({ matched: true });
  expect(await waits.wait({ for: "idle", idle_ms: 10_000 })).toMatchObject({ matched: true });
});

test("whoever leaves ends his wait at once and leaves nothing behind", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  const wishes: Wish[] = [
    { for: "exit" },
    { for: "output" },
    { for: "idle", idle_ms: 100 },
    { for: "text", text: "a" },
    { for: "regex", pattern: "a" },
  ];
  const leaving = new AbortController();
  const all = wishes.map((wish) => waits.wait(wish, leaving.signal));
  await begun(session, wishes.length + 1);
  leaving.abort(new Error("left"));
  for (const waiting of all) await expect(waiting).rejects.toThrow("left");
  expect(session.clock.timers).toBe(0);
  expect(session.hosts.all()[0].followed).toBe(0);
  await expect(waits.wait({ for: "exit" }, leaving.signal)).rejects.toThrow("left");
  expect(session.hosts.all()[0].followed).toBe(0);
});

test("only so many waits are under way, and one that ends makes room", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  const leaving = new AbortController();
  const all = Array.from({ length: limits.waits }, () =>
    waits.wait({ for: "exit" }, leaving.signal).catch(() => undefined),
  );
  await begun(session, limits.waits);
  await expect(waits.wait({ for: "exit" })).rejects.toMatchObject({ code: "too_many" });
  leaving.abort();
  await Promise.all(all);
  expect(await waits.wait({ for: "exit", timeout_ms: 0 })).toMatchObject({ matched: false });
});

test.each<Wish>([
  { for: "exit" },
  { for: "idle", idle_ms: 100 },
  { for: "text", text: "a" },
  { for: "regex", pattern: "a" },
])("a wait for $for whose host goes says so", async (wish) => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  const waiting = waits.wait(wish);
  await begun(session);
  session.leave();
  await expect(waiting).rejects.toMatchObject({ code: "host_unavailable" });
});

test("many hostile patterns delay no other wait, and end when their time is over", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  session.print(`${"a".repeat(200_000)}!`);
  let ended = 0;
  const hostile = Array.from({ length: 150 }, async () => {
    const wait = await waits.wait({ for: "regex", pattern: "(a+)+$", timeout_ms: 1000 });
    ended += 1;
    return wait.matched;
  });
  expect(await waits.wait({ for: "regex", pattern: "a!", since: 199_900 })).toMatchObject({
    offset: 199_999,
  });
  expect(ended).toBe(0);
  session.clock.advance(1000);
  expect(new Set(await Promise.all(hostile))).toEqual(new Set([false]));
  expect(session.hosts.all()[0].followed).toBe(0);
});

test("what is no pattern is refused", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  await expect(waits.wait({ for: "regex", pattern: "[" })).rejects.toMatchObject({
    code: "invalid_request",
    details: { field: "pattern" },
  });
});

test("a long history is looked through, and others have their turn meanwhile", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  const mib = Buffer.alloc(1024 * 1024, `${"x".repeat(79)}\n`);
  const size = repeats({ few: 16, full: 64 });
  for (let count = 0; count < size; count += 1) session.print(mib);
  session.print("the end");
  const offset = size * mib.length;
  for (const wish of [
    { for: "text", text: "the end" },
    { for: "regex", pattern: "the \\w+$" },
  ] as const) {
    let turns = 0;
    let isDone = false;
    const waiting = waits.wait(wish).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await new Promise(setImmediate);
      turns += 1;
    }
    expect(await waiting).toMatchObject({ matched: true, offset, end: offset + 7 });
    expect(turns).toBeGreaterThan(size / 2);
  }
});

test("small pieces behind a large window are gathered before they are searched", async () => {
  using session = openWrittenSession();
  using waits = openWaits(session);
  session.print(Buffer.alloc(100 * 1024, "x"));
  const waiting = waits.wait({ for: "regex", pattern: "y" });
  await begun(session);
  session.print("y");
  await begun(session, 2);
  session.clock.advance(20);
  expect(await waiting).toMatchObject({ matched: true, offset: 100 * 1024 });
});
