import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { asFault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { HostSession } from "#host/session/host-session.ts";
import { type BoundHost, openBoundHost } from "#host/testing/open-bound-host.ts";
import { createRequest } from "#host/testing/open-test-sessions.ts";
import { openRandom, type Random } from "#test/harness/random.ts";
import { repeats } from "#test/harness/repeats.ts";
import type { HostClient } from "./client.ts";
import type { HostMethod, HostMethods } from "./methods.ts";

type Ask = (client: HostClient, target: string, random: Random) => Promise<unknown>;

const KINDS = ["terminal", "command", "agent"] as const;
const UNKNOWN = "ses_0000000000000000";
const WORKSPACES = ["wsp_one", "wsp_two"];

/** Every method once, about a session that the connection may see or not. A new method needs a line here. */
const asks: { readonly [M in HostMethod]: Ask } = {
  "connection.bind": (client, session_id) =>
    call(client, "connection.bind", { session_id, secret: "guess" }),
  "host.health": (client) => call(client, "host.health", {}),
  "host.shutdown": (client) => call(client, "host.shutdown", {}),
  "host.upgrade": (client) => call(client, "host.upgrade", { command: ["/bin/reins"] }),
  "session.create": (client, parent_session_id, random) =>
    call(client, "session.create", {
      ...createRequest({ kind: pick(KINDS, random), argv: ["/bin/true"] }),
      ...(random.boolean() ? { parent_session_id } : {}),
      labels: { workspace_id: pick(WORKSPACES, random), idempotency_key: `k${random.below(10)}` },
    }),
  "session.revive": (client, session_id) =>
    call(client, "session.revive", { session_id, argv: ["/bin/true"], env: {} }),
  "session.list": (client, parent_session_id, random) =>
    call(client, "session.list", random.boolean() ? { parent_session_id } : { limit: 3 }),
  "session.get": (client, session_id) => call(client, "session.get", { session_id }),
  "session.labels": (client, session_id) => call(client, "session.labels", { session_id }),
  "session.rename": (client, session_id) =>
    call(client, "session.rename", { session_id, title: "renamed" }),
  "session.close": (client, session_id, random) =>
    call(client, "session.close", { session_id, purge: random.below(4) === 0 }),
  "session.input": (client, session_id) =>
    call(client, "session.input", { session_id, data_b64: "YQ==" }),
  "session.resize": (client, session_id) =>
    call(client, "session.resize", { session_id, cols: 99, rows: 33 }),
  "session.signal": (client, session_id) =>
    call(client, "session.signal", { session_id, signal: "SIGUSR1" }),
  "session.read": (client, session_id, random) =>
    call(client, "session.read", {
      session_id,
      log: random.boolean() ? "output" : "events",
      offset: 0,
      limit: 1000,
    }),
  "session.blob": (client, session_id) =>
    call(client, "session.blob", { session_id, name: "0".repeat(64) }),
  "session.keep_blob": (client, session_id) =>
    call(client, "session.keep_blob", { session_id, data_b64: "YQ==" }),
  "session.tree": (client, session_id) => call(client, "session.tree", { session_id }),
  "session.attach": (client, session_id) =>
    call(client, "session.attach", { session_id, viewer: "v", role: "viewer" }),
  "session.detach": (client, _, random) =>
    call(client, "session.detach", { attachment: random.between(1, 4) }),
  "session.take": (client, _, random) =>
    call(client, "session.take", { attachment: random.between(1, 4), takeover: true }),
  "session.release": (client, _, random) =>
    call(client, "session.release", { attachment: random.between(1, 4) }),
  "session.renew": (client, _, random) =>
    call(client, "session.renew", { attachment: random.between(1, 4) }),
  "session.watch": (client, session_id) => call(client, "session.watch", { session_id }),
  "session.unwatch": (client, _, random) =>
    call(client, "session.unwatch", { watch: random.between(1, 4) }),
  "sessions.watch": (client) => call(client, "sessions.watch", {}),
};

/** Those that name the session they are about. */
const ABOUT_ONE = Object.keys(asks).filter(
  (method) =>
    method.startsWith("session.") &&
    /(revive|get|labels|rename|close|input|resize|signal|tree|attach|watch|read|blob)$/.test(
      method,
    ) &&
    method !== "session.unwatch",
) as HostMethod[];

test.each(Array.from({ length: repeats({ few: 8, full: 400 }) }, (_, seed) => seed + 1))(
  "random requests on a session's connection see and change nothing outside its tree (seed %i)",
  async (seed) => {
    const random = openRandom(seed);
    await using bound = await openBoundHost();
    const all = await plant(bound, random);
    const root = pick(all, random);
    const workspace = root.record.labels.workspace_id;
    const isOwn = createOracle(root.id, all);
    const foreign = all.filter(({ id }) => !isOwn(id));
    const client = await bound.session(root.id);
    const heard: string[] = [];
    await client.watchAll((sessionId, session) =>
      heard.push(`${sessionId} ${JSON.stringify(session)}`),
    );
    const user = await bound.user();
    for (const { id } of all.slice(0, 3))
      await call(user, "session.attach", { session_id: id, viewer: "user", role: "viewer" });
    const before = foreign.map((session) => fingerprint(bound, session));
    const answers: string[] = [];
    for (let step = 0; step < 60; step += 1) {
      const target = random.below(8) === 0 ? UNKNOWN : pick(all, random).id;
      const ask = pick(Object.values(asks), random);
      answers.push(await settle(ask(client, target, random), target));
    }
    for (const { id } of foreign)
      for (const method of ABOUT_ONE)
        expect(await settle(asks[method](client, id, random), id)).toBe(
          await settle(asks[method](client, UNKNOWN, random), UNKNOWN),
        );
    expect(foreign.map((session) => fingerprint(bound, session))).toEqual(before);
    for (const { id } of foreign) bound.host.sessions.get(id).rename({ title: "for the user" });
    await client.call("host.health", {});
    const parent = root.record.parent_session_id;
    const shown = [...answers, ...heard].join("\n");
    const named = new Set(shown.match(/ses_[0-9a-z]{16}/g));
    const strangers = foreign.filter(({ id }) => id !== parent && named.has(id));
    expect(strangers.map(({ id }) => id)).toEqual([]);
    expect(shown).not.toContain("for the user");
    const known = new Set<string>(all.map(({ id }) => id));
    const made = bound.host.sessions.all().filter(({ id }) => !known.has(id));
    const isOwnNow = createOracle(root.id, [...all, ...made]);
    expect(made.every(({ id }) => isOwnNow(id))).toBe(true);
    expect(made.every(({ record }) => record.labels.workspace_id === workspace)).toBe(true);
  },
);

test("what is created gets the session as parent and its workspace, whatever was sent", async () => {
  await using bound = await openBoundHost();
  const { session: agent } = await bound.host.open({
    kind: "agent",
    labels: { workspace_id: "wsp_own" },
  });
  const client = await bound.session(agent.id);
  const made = await client.call("session.create", {
    ...createRequest(),
    labels: { workspace_id: "wsp_other", task_id: "tsk_1" },
  });
  expect(made).toMatchObject({ parent_session_id: agent.id, workspace_id: "wsp_own" });
  const below = await client.call("session.create", {
    ...createRequest({ parent_session_id: made.session_id }),
  });
  expect(below.parent_session_id).toBe(made.session_id);
  const many = Array.from({ length: limits.labels }, (_, index) => [`label${index}`, "x"]);
  await expect(
    client.call("session.create", { ...createRequest(), labels: Object.fromEntries(many) }),
  ).rejects.toMatchObject({ code: "invalid_request" });
});

test("an idempotency key of another session's child finds nothing", async () => {
  await using bound = await openBoundHost();
  const labels = { workspace_id: "wsp_one", idempotency_key: "k" };
  const { session: foreign } = await bound.host.open({ labels });
  const { session: agent } = await bound.host.open({
    kind: "agent",
    labels: { workspace_id: "wsp_one" },
  });
  const client = await bound.session(agent.id);
  const request = { ...createRequest(), labels };
  const made = await client.call("session.create", request);
  expect(made.session_id).not.toBe(foreign.id);
  expect((await client.call("session.create", request)).session_id).toBe(made.session_id);
});

test("the host is neither ended nor replaced, and its health tells of the tree alone", async () => {
  await using bound = await openBoundHost();
  const { session: agent } = await bound.host.open({ kind: "agent" });
  await bound.host.open();
  const client = await bound.session(agent.id);
  for (const asked of [
    client.call("host.shutdown", {}),
    client.call("host.upgrade", { command: ["/bin/reins"] }),
  ])
    await expect(asked).rejects.toMatchObject({ code: "forbidden" });
  expect(bound.host.sessions.isShuttingDown).toBe(false);
  expect(await client.call("host.health", {})).toMatchObject({
    ...{ sessions: 1, live: 1, connections: 1, errors: 0, last_error: null, unreadable: [] },
    log_faults: 0,
  });
});

test("the removal of a session of the tree is reported, that of another is not", async () => {
  await using bound = await openBoundHost();
  const { session: agent } = await bound.host.open({ kind: "agent" });
  const { session: child } = await bound.host.open({ parent_session_id: agent.id });
  const { session: foreign } = await bound.host.open();
  const client = await bound.session(agent.id);
  const removed: string[] = [];
  await client.watchAll((sessionId, session) => {
    if (session === null) removed.push(sessionId);
  });
  for (const { id } of [foreign, child, agent]) await bound.host.sessions.purge(id);
  await client.call("host.health", {});
  expect(removed).toEqual([child.id, agent.id]);
  await expect(client.call("session.create", { ...createRequest() })).rejects.toMatchObject({
    code: "session_not_found",
  });
});

async function plant(bound: BoundHost, random: Random): Promise<HostSession[]> {
  const all: HostSession[] = [];
  for (let index = 0; index < 10; index += 1) {
    const parent = random.below(3) === 0 ? undefined : all[random.below(all.length + 1)];
    const { session } = await bound.host.open({
      kind: pick(KINDS, random),
      labels: { workspace_id: pick(WORKSPACES, random), idempotency_key: `k${index}` },
      ...(parent === undefined ? {} : { parent_session_id: parent.id }),
    });
    all.push(session);
  }
  return all;
}

/** Whether a session is in the tree, by the parents at its creation. */
function createOracle(root: string, all: readonly HostSession[]): (id: string) => boolean {
  const own = new Set<string>([root]);
  // A parent is created before its children.
  for (const { id, record } of all)
    if (record.parent_session_id !== null && own.has(record.parent_session_id)) own.add(id);
  return (id) => own.has(id);
}

/** All that a request could have changed. */
function fingerprint({ host }: BoundHost, session: HostSession): string {
  const child = host.spawner.children.find(({ pid }) => pid === session.record.process?.pid);
  const { written, sizes, signals, treeSignals, graces } = Object(child);
  const files = readdirSync(session.dir);
  const parts = [session.view(), files, host.sessions.find(session.id) === session];
  return JSON.stringify([...parts, String(written), sizes, signals, treeSignals, graces]);
}

/** An answer or a fault as text, without the id that was asked for: unknown and foreign ids must read the same. */
async function settle(asked: Promise<unknown>, target: string): Promise<string> {
  try {
    return JSON.stringify(await asked);
  } catch (error) {
    const { code, message, details } = asFault(error);
    return JSON.stringify({ code, message, details }).replaceAll(target, "ASKED");
  }
}

function call<M extends HostMethod>(
  client: HostClient,
  method: M,
  params: HostMethods[M]["params"],
): Promise<unknown> {
  return client.call(method, params);
}

function pick<T>(from: readonly T[], random: Random): T {
  const found = from[random.below(from.length)];
  if (found === undefined) throw new Error("there is nothing to pick from");
  return found;
}
