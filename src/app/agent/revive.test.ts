import { expect, test } from "vitest";
import { describeNew } from "#app/session.ts";
import { ManualClock } from "#base/manual-clock.ts";
import type { SessionId } from "#contract/ids.ts";
import { inline, openTestAgents, operationsOf, type TestAgents } from "#test/harness/agents.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { planLaunch } from "./launch.ts";

const leaseAgents = leaseForFile(() => openTestAgents());

const say = (session_id: SessionId, content: string) => ({ session_id, messages: [{ content }] });

async function ended({ host }: TestAgents, session_id: string) {
  return await waitFor("the worker has ended", async () => {
    const session = await host.client.call("session.get", { session_id });
    return session.state.kind === "exited" && session;
  });
}

async function eventsOf(agents: TestAgents, session_id: string) {
  using handle = await agents.deps.hosts.of(session_id).open(session_id);
  const bytes = handle.events.read(0, { limit: 1 << 20, tail: handle.events.tail() });
  if (bytes?.kind !== "bytes") throw new Error("no events");
  const text = Buffer.from(bytes.bytes).toString("utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): { type: string } => JSON.parse(line));
}

test("a parked agent comes back for the next message, which is not lost", async () => {
  await using agents = await leaseAgents();
  const operations = operationsOf(agents.deps);
  const { session_id } = await operations["agent.create"]({ source: inline });
  await operations["agent.send"](say(session_id, "park"));
  await ended(agents, session_id);
  expect(await operations["agent.send"](say(session_id, "again"))).toMatchObject({
    status: "started",
  });
  const { life } = await agents.host.client.call("session.get", { session_id });
  expect(life).toBe(2);
  await waitFor("the answer", async () => {
    const { messages } = await operations["agent.transcript"]({ session_id });
    return JSON.stringify(messages).includes("heard again");
  });
});

test("many who come at once to a parked agent bring it back once, through two gateways as well", async () => {
  await using agents = await leaseAgents();
  const here = operationsOf(agents.deps);
  const { session_id } = await here["agent.create"]({ source: inline });
  await here["agent.send"](say(session_id, "park"));
  await ended(agents, session_id);
  const there = operationsOf(agents.gateway());
  const methods: string[] = [];
  const { client } = agents.host;
  const call = client.call.bind(client);
  client.call = (method, params) => {
    methods.push(method);
    return call(method, params);
  };
  const asked = Array.from({ length: 12 }, (_, index) =>
    (index % 2 === 0 ? here : there)["agent.skills"]({ session_id }),
  );
  for (const answer of await Promise.all(asked)) expect(answer).toEqual({ skills: [] });
  const types = (await eventsOf(agents, session_id)).map(({ type }) => type);
  expect(types.filter((type) => type === "session.resumed")).toHaveLength(1);
  // Each gateway tries for all of its callers at once.
  const tried = methods.filter((method) => method === "session.revive").length;
  expect([1, 2]).toContain(tried);
});

test("a worker that ends on a request is started again and asked again, once", async () => {
  await using agents = await leaseAgents();
  const operations = operationsOf(agents.deps);
  const { session_id } = await operations["agent.create"]({ source: inline });
  await expect(operations["agent.send"](say(session_id, "end"))).rejects.toMatchObject({
    code: "already_exited",
  });
  const { life } = await ended(agents, session_id);
  expect(life).toBe(2);
  const events: { type: string; message?: string }[] = await eventsOf(agents, session_id);
  const keys = events.filter(({ type }) => type === "warning").map(({ message }) => message);
  expect(keys).toEqual([expect.stringMatching(/^key_/), keys[0]]);
});

test("an agent that was closed for good stays closed", async () => {
  await using agents = await leaseAgents();
  const operations = operationsOf(agents.deps);
  const { session_id } = await operations["agent.create"]({ source: inline });
  await agents.host.client.call("session.close", { session_id });
  for (const asked of [
    operations["agent.send"](say(session_id, "hello")),
    operations["agent.create"]({ resume_session_id: session_id }),
  ])
    await expect(asked).rejects.toMatchObject({ code: "already_exited" });
});

test("a worker that nobody has begun is begun by who comes next, after a while", async () => {
  await using agents = await leaseAgents();
  const operations = operationsOf(agents.deps);
  const { session_id } = await operations["agent.create"]({ source: inline });
  await operations["agent.send"](say(session_id, "park"));
  await ended(agents, session_id);
  // A gateway that dies between the revival and the first line.
  const spec = { yaml: inline.yaml, name: "t", base_dir: "/" };
  const { argv, env } = planLaunch(agents.agents.launching, createTestCaller().where, spec);
  await agents.host.client.call("session.revive", { session_id, argv, env });
  const clock = new ManualClock();
  const later = operationsOf(agents.gateway({ clock }));
  const asked = later["agent.skills"]({ session_id });
  await waitFor("it waits for the other", () => clock.timers > 0);
  clock.advance(10_000);
  expect(await asked).toEqual({ skills: [] });
  expect(await agents.host.client.call("session.get", { session_id })).toMatchObject({ life: 2 });
});

test("an agent that never began is not brought back", async () => {
  await using agents = await leaseAgents();
  const { session_id } = await agents.host.create({ kind: "agent", argv: ["/bin/true"] });
  await ended(agents, session_id);
  const asked = operationsOf(agents.deps)["agent.tools"]({ session_id });
  await expect(asked).rejects.toMatchObject({
    code: "already_exited",
    message: expect.stringContaining("never begun"),
  });
});

test("an agent whose maker died before its first line begins when it is asked for again under its key", async () => {
  await using agents = await leaseAgents();
  const { client } = agents.host;
  const idempotency_key = "k";
  const caller = createTestCaller();
  const { labels } = describeNew(agents.deps, caller, { kind: "agent", idempotency_key });
  // The session is there, and nobody has told it what it is.
  const half = await agents.host.create({ kind: "agent", argv: ["/bin/true"], labels });
  await ended(agents, half.session_id);
  const operations = operationsOf(agents.deps);
  const { session_id } = await operations["agent.create"]({ source: inline, idempotency_key });
  expect(session_id).toBe(half.session_id);
  expect(await operations["agent.send"](say(session_id, "there"))).toMatchObject({
    status: "started",
  });
  expect(await client.call("session.get", { session_id })).toMatchObject({ life: 2 });
});

test("resuming answers with the same session when its worker can be asked", async () => {
  await using agents = await leaseAgents();
  const operations = operationsOf(agents.deps);
  const { session_id } = await operations["agent.create"]({ source: inline });
  await operations["agent.send"](say(session_id, "park"));
  await ended(agents, session_id);
  expect(await operations["agent.create"]({ resume_session_id: session_id })).toEqual({
    session_id,
  });
  const session = await agents.host.client.call("session.get", { session_id });
  expect(session).toMatchObject({ state: { kind: "running" }, life: 2 });
});
