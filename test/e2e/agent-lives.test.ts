import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createEventOperations } from "#app/read/events.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { StreamItem } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { createLocalHosts } from "#session/local-host.ts";
import { callerEnvironment, createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { findProcesses, isAlive } from "#test/harness/processes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

const LINES = 200;

/** A worker that says so many numbered things, then half a thing, and waits. */
function worker(name: string): string[] {
  const say = `printf '{"type":"said","by":"${name}","n":%d}\\n' $n`;
  const script = `n=0; while [ $n -lt ${LINES} ]; do ${say}; n=$((n+1)); done; printf '{"type":"ha'; exec cat >&2`;
  return ["/bin/bash", "-c", script];
}

function revive(host: TestHost, session_id: string, argv: readonly string[]): Promise<Session> {
  return host.client.call("session.revive", { session_id, argv, env: callerEnvironment() });
}

async function follow(host: TestHost, sessionId: string, more: object = {}) {
  const hosts = createLocalHosts(host.client, host.sessions);
  const { "session.events": events } = createEventOperations({ hosts }, createTestCaller());
  // The host made the id.
  return await events({ session_id: sessionId as Session["session_id"], ...more });
}

/** Reads until the worker of this name has said everything, or the stream has ended. */
async function readUntil(
  items: AsyncIterator<StreamItem<AnyEvent>>,
  into: StreamItem<AnyEvent>[],
  isLast: (event: Readonly<Record<string, unknown>>) => boolean,
): Promise<void> {
  for (;;) {
    const { value, done } = await items.next();
    if (done === true) return;
    into.push(value);
    if (isLast(value.data)) return;
  }
}

const saidAll = (by: string) => (event: Readonly<Record<string, unknown>>) =>
  event.by === by && event.n === LINES - 1;

function logOf(host: TestHost, sessionId: string): Buffer {
  return readFileSync(join(host.sessions, sessionId, "events", "0000000000000000"));
}

/** Every id is the offset behind its event, and between two events stand nothing but line ends. */
function expectDense(items: readonly StreamItem<AnyEvent>[], log: Buffer): void {
  let next = 0;
  for (const { id, data } of items) {
    const line = log.subarray(next, Number(id)).toString("utf8");
    expect(line.replaceAll("\n", "")).toBe(JSON.stringify(data));
    expect(line.endsWith("\n")).toBe(true);
    next = Number(id);
  }
}

test("who follows an agent across lives, dead workers and dead hosts sees each event once, in order", async () => {
  using temp = openTempDir();
  const dataDir = join(temp.path, "home");
  const items: StreamItem<AnyEvent>[] = [];
  let sessionId = "";
  {
    await using host = await openTestHost({ dataDir });
    const { session_id } = await host.create({ kind: "agent", argv: worker("one") });
    sessionId = session_id;
    const stream = (await follow(host, session_id))[Symbol.asyncIterator]();
    await readUntil(stream, items, saidAll("one"));
    const { pid } = await host.client.call("session.get", { session_id });
    process.kill(pid ?? 0, "SIGKILL");
    await readUntil(stream, items, ({ type }) => type === "session.exited");
    await waitFor("the worker to be gone", () => !isAlive(pid ?? 0));
    await revive(host, session_id, worker("two"));
    await readUntil(stream, items, saidAll("two"));
    await host.kill("SIGKILL");
    await readUntil(stream, items, () => false);
  }
  await using host = await openTestHost({ dataDir });
  const lost = await host.client.call("session.get", { session_id: sessionId });
  expect(lost).toMatchObject({ life: 2, state: { kind: "lost" } });
  expect(await revive(host, sessionId, worker("three"))).toMatchObject({ life: 3 });
  const since = items.at(-1)?.id;
  const stream = (await follow(host, sessionId, { since }))[Symbol.asyncIterator]();
  await readUntil(stream, items, saidAll("three"));
  await host.client.call("session.close", { session_id: sessionId });
  await readUntil(stream, items, () => false);

  const marks = items.flatMap(({ data }) => {
    if (data.type === "session.resumed") return [`resumed ${data.life}`];
    return data.type === "session.exited" ? [data.state.kind] : [];
  });
  expect(marks).toEqual(["exited", "resumed 2", "lost", "resumed 3", "exited"]);
  const said = items.map(({ data }) => data as { readonly by?: string; readonly n?: number });
  const numbers = said.filter(({ n }) => n !== undefined).map(({ by, n }) => `${by} ${n}`);
  const expected = ["one", "two", "three"].flatMap((by) =>
    Array.from({ length: LINES }, (_, n) => `${by} ${n}`),
  );
  expect(numbers).toEqual(expected);
  expectDense(items, logOf(host, sessionId));
  for (const { data } of items)
    if (data.type === "session.resumed") {
      const rest = await Array.fromAsync(
        await follow(host, sessionId, { since: data.from, follow: false }),
      );
      expect(rest[0]?.data).toEqual(data);
    }
});

test("of many who revive at once one wins, and one worker runs", async () => {
  await using host = await openTestHost();
  const { session_id } = await host.create({ kind: "agent", argv: ["/bin/true"] });
  using watch = await host.client.watch(session_id);
  await watch.until(({ session }) => session.state.kind === "exited");
  const marker = `7${process.pid}2.5`;
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, () => revive(host, session_id, ["/bin/sleep", marker])),
  );
  const refused = outcomes.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(7);
  for (const outcome of refused) expect(outcome).toMatchObject({ reason: { code: "busy" } });
  expect(findProcesses(`sleep ${marker}`)).toHaveLength(1);
  expect((await host.client.call("session.get", { session_id })).life).toBe(2);
  await host.client.call("session.close", { session_id });
  expect(findProcesses(`sleep ${marker}`)).toEqual([]);
  await expect(revive(host, session_id, ["/bin/true"])).rejects.toMatchObject({
    code: "already_exited",
  });
});

test("what a killed worker left running is gone before the next one runs, and a close ends all of that one", async () => {
  await using host = await openTestHost();
  const old = `8${process.pid}1.5`;
  const young = `8${process.pid}2.5`;
  const tree = (marker: string) => [
    "/bin/sh",
    "-c",
    `setsid sleep ${marker} & env -i setsid sleep ${marker} & exec sleep ${marker}`,
  ];
  const { session_id, pid } = await host.create({ kind: "agent", argv: tree(old) });
  await waitFor("the tree", () => findProcesses(`sleep ${old}`).length >= 3);
  process.kill(pid ?? 0, "SIGKILL");
  using watch = await host.client.watch(session_id);
  await watch.until(({ session }) => session.state.kind === "exited");
  expect(findProcesses(`sleep ${old}`).length).toBeGreaterThan(0);
  await revive(host, session_id, tree(young));
  expect(findProcesses(`sleep ${old}`)).toEqual([]);
  await waitFor("the next tree", () => findProcesses(`sleep ${young}`).length >= 3);
  const { processes } = await host.client.call("session.tree", { session_id });
  expect(processes).toBe(3);
  const closed = await host.client.call("session.close", { session_id });
  expect(findProcesses(`sleep ${young}`)).toEqual([]);
  expect(closed.state).toMatchObject({ kind: "exited", reason: "user_requested" });
});

test("a host that is killed while it revives leaves an agent that can be read and revived", async () => {
  using temp = openTempDir();
  const dataDir = join(temp.path, "home");
  let sessionId = "";
  for (const moment of ["sent", "starting", "running"] as const) {
    await using host = await openTestHost({ dataDir });
    if (sessionId === "")
      sessionId = (await host.create({ kind: "agent", argv: ["/bin/cat"] })).session_id;
    using watch = await host.client.watch(sessionId);
    if (watch.session.state.kind === "running") {
      await host.client.call("session.input", { session_id: sessionId, eof: true });
      await watch.until(({ session }) => session.state.kind === "exited");
    }
    const { life = 1 } = watch.session;
    const reviving = revive(host, sessionId, ["/bin/cat"]).catch((error: unknown) => error);
    if (moment === "starting") await watch.until(({ session }) => session.life !== life);
    if (moment === "running") await reviving;
    await host.kill("SIGKILL");
    await reviving;
  }
  await using host = await openTestHost({ dataDir });
  const found = await host.client.call("session.get", { session_id: sessionId });
  expect(["exited", "lost"]).toContain(found.state.kind);
  const { life = 0 } = found;
  expect(await revive(host, sessionId, ["/bin/cat"])).toMatchObject({
    life: life + 1,
    state: { kind: "running" },
  });
  const items = await Array.fromAsync(await follow(host, sessionId, { follow: false }));
  expectDense(items, logOf(host, sessionId));
  const lives = items.flatMap(({ data }) => (data.type === "session.resumed" ? [data.life] : []));
  expect(lives).toEqual([...new Set(lives)].toSorted((a, b) => a - b));
  expect(lives.at(-1)).toBe(life + 1);
});

test("the events of a session that is purged end, whatever it is and whether it runs", async () => {
  await using host = await openTestHost();
  for (const kind of ["agent", "command"] as const)
    for (const argv of [["/bin/true"], ["/bin/sleep", "1000"]]) {
      const { session_id } = await host.create({ kind, argv });
      const stream = (await follow(host, session_id))[Symbol.asyncIterator]();
      const items: StreamItem<AnyEvent>[] = [];
      await readUntil(stream, items, ({ type }) => type === "session.opened");
      await host.client.call("session.close", { session_id, purge: true });
      await readUntil(stream, items, () => false);
      await expect(follow(host, session_id)).rejects.toMatchObject({ code: "session_not_found" });
    }
});
