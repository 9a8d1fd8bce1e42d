import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { OperationInput } from "#contract/operations.ts";
import { defined } from "#contract/values/defined.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import {
  openWrittenSession,
  WRITTEN_SESSION,
  type WrittenSession,
} from "#test/harness/written-session.ts";
import { createOutputOperations } from "./output.ts";

const exited = {
  kind: "exited",
  exit_code: 0,
  signal: null,
  reason: "exited",
  tail: 0,
  final: true,
} as const;

async function read(
  session: WrittenSession,
  more: Partial<OperationInput<"session.output">> = {},
  signal?: AbortSignal,
) {
  const { "session.output": output } = createOutputOperations(session, createTestCaller());
  const options = defined({ signal });
  const range = await output({ session_id: WRITTEN_SESSION as never, ...more }, options);
  return { ...range, bytes: Buffer.from(range.bytes).toString() };
}

test("a range says where it is, what comes next and where the end was", async () => {
  using session = openWrittenSession();
  session.print("0123456789");
  expect(await read(session, { since: 2, limit: 3 })).toEqual({
    offset: 2,
    next: 5,
    tail: 10,
    gap: null,
    state: "running",
    final: false,
    bytes: "234",
  });
  expect(await read(session)).toMatchObject({ offset: 0, next: 10, bytes: "0123456789" });
  expect(await read(session, { since: "tail" })).toMatchObject({ offset: 10, next: 10, bytes: "" });
});

test("one channel alone moves over the other", async () => {
  using session = openWrittenSession({ kind: "command", mode: "pipe" });
  session.print("out", "stdout");
  session.print("err", "stderr");
  session.print("more", "stdout");
  expect(await read(session, { channel: "stdout" })).toMatchObject({ bytes: "outmore", next: 10 });
  expect(await read(session, { channel: "stderr" })).toMatchObject({ bytes: "err", next: 10 });
  expect(await read(session, { channel: "stderr", since: 4 })).toMatchObject({ bytes: "rr" });
});

test("a gap is told where the range begins in it, and ends a range before it", async () => {
  using session = openWrittenSession();
  session.print("abc");
  session.lose(5);
  session.print("def");
  expect(await read(session)).toMatchObject({ bytes: "abc", next: 3, gap: null });
  expect(await read(session, { since: 3 })).toMatchObject({
    gap: { from: 3, to: 8 },
    offset: 8,
    bytes: "def",
    next: 11,
  });
});

test("who waits at the end gets what is printed next", async () => {
  using session = openWrittenSession();
  session.print("abc");
  const waiting = read(session, { since: 3, wait_ms: 1000 });
  await waitFor("it waits", () => session.clock.timers === 1);
  session.print("d");
  expect(await waiting).toMatchObject({ bytes: "d", next: 4 });
  expect(session.clock.timers).toBe(0);
});

test("a wait ends with its time, with the session, or with who waits", async () => {
  using session = openWrittenSession();
  const timed = read(session, { since: 0, wait_ms: 1000 });
  await waitFor("it waits", () => session.clock.timers === 1);
  session.clock.advance(1000);
  expect(await timed).toMatchObject({ bytes: "", final: false });
  const leaving = new AbortController();
  const left = read(session, { since: 0, wait_ms: 1000 }, leaving.signal);
  await waitFor("it waits", () => session.clock.timers === 1);
  leaving.abort();
  expect(await left).toMatchObject({ bytes: "" });
  const ending = read(session, { since: 0, wait_ms: 1000 });
  await waitFor("it waits", () => session.clock.timers === 1);
  session.enter(exited);
  expect(await ending).toMatchObject({ state: "exited", final: true });
});

test("a range is final only when it reaches the end of a session that has ended", async () => {
  using session = openWrittenSession({ kind: "command", mode: "pipe" });
  session.print("abcdef", "stdout");
  session.print("err", "stderr");
  session.enter({ ...exited, tail: 9 });
  expect(await read(session, { limit: 6 })).toMatchObject({ next: 6, tail: 9, final: false });
  expect(await read(session, { since: 6, limit: 3 })).toMatchObject({ next: 9, final: true });
  expect(await read(session, { since: "tail" })).toMatchObject({ next: 9, final: true });
  expect(await read(session, { channel: "stdout", limit: 6 })).toMatchObject({ final: false });
  expect(await read(session, { channel: "stdout" })).toMatchObject({ next: 9, final: true });
});

test("a damaged index is a fault of its own that names the file", async () => {
  using session = openWrittenSession();
  session.print("abc");
  const path = join(session.dir, "output", "0000000000000000.idx");
  writeFileSync(path, Buffer.alloc(72, "x"));
  await expect(read(session)).rejects.toMatchObject({
    code: "log_damaged",
    message: expect.stringContaining(path),
    details: { path },
  });
});

test("an offset behind the end is refused before anybody waits", async () => {
  using session = openWrittenSession();
  session.print("abc");
  const refused = expect.objectContaining({ code: "offset_out_of_range" });
  await expect(read(session, { since: 4 })).rejects.toEqual(refused);
  await expect(read(session, { since: 4, wait_ms: 1000 })).rejects.toEqual(refused);
  expect([session.clock.timers, session.hosts.all()[0].followed]).toEqual([0, 0]);
});
