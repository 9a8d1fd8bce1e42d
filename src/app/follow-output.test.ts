import fc from "fast-check";
import { expect, test } from "vitest";
import { channels } from "#contract/channels.ts";
import { Collected, LogModel } from "#log/testing/log-model.ts";
import {
  exitedState,
  openWrittenSession,
  WRITTEN_SESSION,
  type WrittenSession,
} from "#test/harness/written-session.ts";
import { type FollowOutput, followOutput } from "./follow-output.ts";

async function follow(session: WrittenSession, options: FollowOutput): Promise<Collected> {
  using handle = await session.hosts.of(WRITTEN_SESSION).open(WRITTEN_SESSION);
  const collected = new Collected(options.since);
  for await (const chunk of followOutput(handle, options)) collected.add(chunk);
  return collected;
}

const printed = fc.record({
  channel: fc.constantFrom("stdout" as const, "stderr" as const),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 60 }),
  /** Somebody comes, and from which part of the log. */
  joins: fc.option(fc.nat(100), { freq: 3 }),
});

test("history and live are one: followers that join at any time get the same bytes", {
  timeout: 60_000,
}, async () => {
  const prints = fc.array(printed, { minLength: 1, maxLength: 40, size: "medium" });
  await fc.assert(
    fc.asyncProperty(prints, async (given) => {
      using session = openWrittenSession({}, { segmentBytes: 100 });
      const model = new LogModel();
      const followers: Promise<Collected>[] = [];
      for (const { channel, bytes, joins } of given) {
        const since = Math.floor(((joins ?? 0) / 100) * session.tail);
        if (joins !== null) followers.push(follow(session, { since, until: "exit" }));
        session.print(bytes, channel);
        model.append(channels[channel], bytes);
        // Lets followers run between two, at whatever await they are.
        for (let turn = bytes[0] ?? 0; turn > 200; turn -= 10) await undefined;
      }
      // Somebody who is about to open hears of the end as well.
      session.enter(exitedState(session.tail, { final: true }));
      for (const { from, held } of await Promise.all(followers))
        expect(held).toEqual(model.since(from));
    }),
    { numRuns: 40 },
  );
});

test("ends when aborted: while it waits, while it reads, and before it began", async () => {
  using session = openWrittenSession({}, { segmentBytes: 25 });
  session.print(Buffer.alloc(50));
  using handle = await session.hosts.of(WRITTEN_SESSION).open(WRITTEN_SESSION);
  for (const after of [0, 1, 2]) {
    const abort = new AbortController();
    const options = { since: 0, until: "exit", signal: abort.signal } as const;
    const chunks = followOutput(handle, options);
    for (let read = 0; read < after; read += 1)
      expect(await chunks.next()).toMatchObject({ done: false });
    const pending = chunks.next();
    abort.abort();
    const first = await pending;
    if (first.done !== true) expect(await chunks.next()).toMatchObject({ done: true });
  }
});

test("what is printed while it reads is read without further news", async () => {
  using session = openWrittenSession();
  session.print("one");
  using handle = await session.hosts.of(WRITTEN_SESSION).open(WRITTEN_SESSION);
  const chunks = followOutput(handle, { since: 0, until: "exit" });
  expect((await chunks.next()).value).toMatchObject({ offset: 0, bytes: Buffer.from("one") });
  session.print("two");
  expect((await chunks.next()).value).toMatchObject({ offset: 3, bytes: Buffer.from("two") });
});

test("what the files hold is read when the host has gone, though nobody told of it", async () => {
  using session = openWrittenSession();
  session.print("told");
  using handle = await session.hosts.of(WRITTEN_SESSION).open(WRITTEN_SESSION);
  session.leave();
  session.print(" and not told");
  const collected = new Collected(0);
  const options = { since: 0, until: "final" } as const;
  for await (const chunk of followOutput(handle, options)) collected.add(chunk);
  expect(Buffer.from(collected.held.bytes).toString()).toBe("told and not told");
});

test("until the exit it waits for no more, until the final it does", async () => {
  using session = openWrittenSession();
  session.print("before");
  session.enter(exitedState(6, { final: false }));
  expect((await follow(session, { since: 0, until: "exit" })).cursor).toBe(6);
  const whole = follow(session, { since: 0, until: "final" });
  session.print(" and behind");
  session.enter(exitedState(17, { final: true }));
  expect((await whole).cursor).toBe(17);
});
