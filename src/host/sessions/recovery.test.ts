import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLogger } from "#base/logger.ts";
import { readRecord } from "#host/session/session-record.ts";
import { openKeeper } from "#host/testing/open-keeper.ts";
import { openTestSessions, readEvents, readOutput } from "#host/testing/open-test-sessions.ts";
import { openSmallDisk } from "#log/testing/small-disk.ts";
import { recoverSessions } from "./recovery.ts";

test("what ran when its host died is lost, readable to the last byte, and never running again", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open({ labels: { owner: "me" } });
  child.print("half a li");
  const { sessions: next } = await host.reopen();
  const found = next.get(session.id);
  expect(found.view()).toMatchObject({
    state: { kind: "lost", reason: "host_lost" },
    tail: 9,
    title: "/bin/sh",
  });
  expect(found.view().exited_at).not.toBeNull();
  expect(found.isLive).toBe(false);
  expect(readOutput(found)).toBe("half a li");
  expect(readEvents(found).at(-1)).toMatchObject({
    type: "session.exited",
    state: { kind: "lost" },
  });
  expect(() => found.input({ bytes: Buffer.from("x") })).toThrow(
    expect.objectContaining({ code: "already_exited" }),
  );
});

test("its leftover processes are asked for by their identity and marks", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  const ended = await host.open();
  ended.child.exit();
  ended.child.finish();
  // The record with the identity follows the start by a moment.
  host.clock.advance(100);
  const { leftovers } = recoverSessions(host.folder, { clock: host.clock, log: silentLogger });
  expect(leftovers).toEqual([
    {
      session_id: session.id,
      identity: { ...child.identity },
      limit_mark: child.limit_mark,
      boot_id: child.identity.boot_id,
    },
  ]);
});

test("the mark of a child is on disk before the child is started", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  // No time has passed, so the record still is the first one.
  const { leftovers } = recoverSessions(host.folder, { clock: host.clock, log: silentLogger });
  expect(leftovers).toEqual([
    {
      session_id: session.id,
      identity: undefined,
      limit_mark: child.limit_mark,
      boot_id: child.identity.boot_id,
    },
  ]);
});

test("what had exited stays exited, with its code, and becomes final", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  child.print("x");
  child.exit({ exit_code: 3, signal: null });
  const { sessions: next } = await host.reopen();
  expect(next.get(session.id).view().state).toMatchObject({
    kind: "exited",
    exit_code: 3,
    final: true,
  });
});

test.each(["when it had just ended", "when all of its output had come"])(
  "an agent whose host died %s, before the events told of it, ends there as its record says",
  async (when) => {
    await using host = openTestSessions();
    const { session, child } = await host.open({ kind: "agent", argv: ["agent"] });
    child.print('{"type":"turn.started"}\n');
    const path = join(session.dir, "events", "0000000000000000");
    const before = readFileSync(path);
    child.exit({ exit_code: 137, signal: "SIGKILL" });
    if (when.includes("output")) child.finish();
    truncateSync(path, before.length);
    const ends = { type: "session.exited", state: { kind: "exited", signal: "SIGKILL" } };
    // The next host writes it, and the one after that finds it.
    for (let hosts = 0; hosts < 2; hosts += 1) {
      const { sessions: next } = await host.reopen();
      const types = readEvents(next.get(session.id)).map(({ type }) => type);
      expect(types).toEqual(["session.opened", "turn.started", "session.exited"]);
      expect(readEvents(next.get(session.id)).at(-1)).toMatchObject(ends);
    }
  },
);

test("a torn record is left alone and named; the others open", async () => {
  await using host = openTestSessions();
  const torn = await host.open();
  const newer = await host.open();
  const good = await host.open();
  writeFileSync(join(torn.session.dir, "session.json"), '{"version":1,"sess');
  writeFileSync(
    join(newer.session.dir, "session.json"),
    JSON.stringify({ ...newer.session.record, version: 2 }),
  );
  const { sessions: next } = await host.reopen();
  expect(next.unreadable.toSorted()).toEqual([torn.session.id, newer.session.id].toSorted());
  expect(next.all().map((session) => session.id)).toEqual([good.session.id]);
  expect(readFileSync(join(torn.session.dir, "session.json"), "utf8")).toBe('{"version":1,"sess');
});

test("a directory without anything in it is what a crash left, and goes; foreign names stay", async () => {
  await using host = openTestSessions();
  mkdirSync(join(host.folder, "ses_00000000000000aa"));
  mkdirSync(join(host.folder, "notes"));
  const { sessions: next } = await host.reopen();
  expect(next.unreadable).toEqual([]);
  expect(() => readFileSync(join(host.folder, "ses_00000000000000aa"))).toThrow(/ENOENT/);
  expect(() => readFileSync(join(host.folder, "notes"))).toThrow(/EISDIR/);
});

test("half a line of events is skipped, the rest is read", async () => {
  await using host = openTestSessions();
  const { session } = await host.open();
  appendFileSync(join(session.dir, "events", "0000000000000000"), '{"type":"half');
  const { sessions: next } = await host.reopen();
  const text = readFileSync(join(session.dir, "events", "0000000000000000"), "utf8");
  expect(next.get(session.id).eventsTail).toBe(text.length);
  const last = JSON.parse(text.trim().split("\n").at(-1) ?? "");
  expect(last).toMatchObject({ type: "session.exited", state: { kind: "lost" } });
});

test("a session whose logs were deleted still opens", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  child.print("gone");
  rmSync(join(session.dir, "output"), { recursive: true });
  const { sessions: next } = await host.reopen();
  expect(next.get(session.id).view()).toMatchObject({ state: { kind: "lost" }, tail: 0 });
});

test("a recovered session takes the room that its files take, not that of what was evicted", async () => {
  const MIB = 1024 * 1024;
  await using host = openTestSessions({ retainBytes: 9 * MIB });
  const { session, child } = await host.open();
  for (let printed = 0; printed < 24 * MIB; printed += MIB) child.print(Buffer.alloc(MIB, "x"));
  const { sessions: next } = await host.reopen();
  const found = next.get(session.id);
  const files = ["output", "events"].flatMap((name) => {
    const log = join(found.dir, name);
    return readdirSync(log).map((file) => statSync(join(log, file)).size);
  });
  expect(found.tail).toBe(24 * MIB);
  expect(found.diskBytes).toBe(files.reduce((sum, size) => sum + size, 0));
});

test("a record that cannot be written on a full disk keeps no host from starting", () => {
  const BLOCK = 4096;
  using disk = openSmallDisk(1024 * 1024);
  if (disk.refused !== undefined) {
    expect(disk.refused).toMatch(/permi|root|superuser|ENOENT/i);
    return;
  }
  const dir = join(disk.path, "ses_0000000000000000");
  const record = join(dir, "session.json");
  mkdirSync(dir);
  const { clock, keeper } = openKeeper(dir);
  keeper.update({ title: "" });
  // Its block is full, so that the end of the session needs another.
  keeper.update({ title: "x".repeat(BLOCK - statSync(record).size) });
  expect(() => writeFileSync(join(disk.path, "filler"), Buffer.alloc(2 * 1024 * 1024))).toThrow(
    "ENOSPC",
  );
  const { records } = recoverSessions(disk.path, { clock, log: silentLogger });
  expect(records).toMatchObject([{ state: { kind: "lost" } }]);
  expect(readRecord(dir)).toMatchObject({ ok: true, record: { state: { kind: "running" } } });
});
