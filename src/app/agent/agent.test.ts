import { expect, test } from "vitest";
import { createSessionOperations } from "#app/session.ts";
import { type SessionId, WorkspaceId } from "#contract/ids.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { StreamItem } from "#contract/operations.ts";
import { inline, openTestAgents, operationsOf, type TestAgents } from "#test/harness/agents.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { interruptAgent } from "./agents.ts";

const leaseAgents = leaseForFile(() => openTestAgents());

const say = (session_id: SessionId, content: string) => ({ session_id, messages: [{ content }] });
const HERE = WorkspaceId.parse("wsp_aaaaaaaaaaaaaaaa");
const KEY = "sk-0123456789";

async function create(agents: TestAgents, more: object = {}) {
  const operations = operationsOf(agents.deps);
  const { session_id } = await operations["agent.create"]({ source: inline, ...more });
  return { operations, session_id };
}

async function collect(stream: AsyncIterable<StreamItem<AnyEvent>>) {
  const items: StreamItem<AnyEvent>[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

const typesOf = (items: readonly StreamItem<AnyEvent>[]) => items.map(({ data }) => data.type);
const TURN = ["turn.started", "message.user", "message.start", "message.end", "turn.ended"];

test("an agent that was made answers, and is told its keys without having them in its environment", async () => {
  await using agents = await leaseAgents();
  const deps = agents.gateway({ keyEnv: { OPENAI_API_KEY: KEY } });
  const env = { PATH: process.env.PATH ?? "", OPENAI_API_KEY: KEY, ALIAS: KEY, KEPT: "yes" };
  const operations = operationsOf(deps, createTestCaller({ env }));
  const { session_id } = await operations["agent.create"]({ source: inline, title: "T" });
  await collect(await operations["agent.run"](say(session_id, "env")));
  const { title, messages } = await operations["agent.transcript"]({ session_id });
  expect(title).toBe("T");
  const answer = messages.at(-1);
  const said = JSON.parse(answer?.role === "assistant" ? answer.text : "{}");
  expect(said.keys).toEqual(["OPENAI_API_KEY"]);
  expect(said.env).toMatchObject({ KEPT: "yes", REINS_HOME: agents.host.dataDir });
  expect(JSON.stringify(said.env)).not.toContain(KEY);
  expect(Object.keys(said.env)).not.toContain("OPENAI_API_KEY");
});

test("an agent that does not begin leaves nothing behind", async () => {
  await using agents = await leaseAgents();
  for (const [agent_name, code, message] of [
    ["broken", "team_invalid", "no key for openai"],
    ["silent", "spawn_failed", "it would not start"],
    ["killed", "overloaded", "killed by SIGKILL before it began; try again"],
  ] as const) {
    await expect(create(agents, { agent_name })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  }
  const wrong = [
    [{ source: undefined }, "invalid_request"],
    [{ agent_name: "nobody" }, "invalid_request"],
    [{ model_overrides: { nobody: "openai/x" } }, "invalid_request"],
    [{ source: { kind: "inline", yaml: "agents: 1" } }, "team_invalid"],
    [{ source: undefined, team_id: `team_${"0".repeat(32)}` }, "team_not_found"],
    [{ working_dir: "/nowhere/at/all" }, "spawn_failed"],
    [{ parent_session_id: "ses_0000000000000000" }, "session_not_found"],
    [{ resume_session_id: "ses_0000000000000000", source: undefined }, "session_not_found"],
  ] as const;
  for (const [more, code] of wrong)
    await expect(create(agents, more)).rejects.toMatchObject({ code });
  expect((await agents.host.client.call("session.list", {})).sessions).toEqual([]);
});

test("the same idempotency key answers with the same agent, at once and through another gateway", async () => {
  await using agents = await leaseAgents();
  const request = { source: inline, idempotency_key: "k" };
  const made = await Promise.all(
    [agents.deps, agents.deps, agents.gateway()].map((deps) =>
      operationsOf(deps)["agent.create"](request),
    ),
  );
  expect(new Set(made.map(({ session_id }) => session_id)).size).toBe(1);
  const [first] = made;
  if (first === undefined) throw new Error("nothing was made");
  const { session_id } = first;
  expect(await operationsOf(agents.deps)["agent.skills"]({ session_id })).toBeDefined();
  await agents.host.client.call("session.close", { session_id });
  await expect(create(agents, request)).rejects.toMatchObject({ code: "already_exited" });
  const kept = await agents.host.client.call("session.get", { session_id });
  expect(kept.state).toMatchObject({ reason: "user_requested" });
  const other = { kind: "command", command: "true", idempotency_key: "other" } as const;
  const sessions = createSessionOperations(agents.deps, createTestCaller());
  await sessions["session.create"](other);
  await expect(create(agents, { idempotency_key: "other" })).rejects.toMatchObject({
    code: "conflict",
  });
});

test("a run gives the events of its turn from the first to the end, without answers, and then ends", async () => {
  await using agents = await leaseAgents();
  const { operations, session_id } = await create(agents);
  const { events_tail } = await operations["agent.snapshot"]({ session_id });
  const first = await collect(await operations["agent.run"](say(session_id, "one")));
  expect(typesOf(first)).toEqual(TURN);
  const second = await collect(await operations["agent.run"](say(session_id, "two")));
  expect(typesOf(second)).toEqual(TURN);
  const ids = [...first, ...second].map(({ id }) => id ?? 0);
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  expect(ids[0]).toBeGreaterThan(events_tail);
});

test("a run that is sent again by its key is the same turn, not another", async () => {
  await using agents = await leaseAgents();
  const { operations, session_id } = await create(agents);
  const request = { ...say(session_id, "once"), idempotency_key: "k" };
  const first = await collect(await operations["agent.run"](request));
  await collect(await operations["agent.run"](say(session_id, "between")));
  expect(await collect(await operations["agent.run"](request))).toEqual(first);
  expect((await operations["agent.transcript"]({ session_id })).total).toBe(4);
});

test("who stops reading a run does not stop its turn", async () => {
  await using agents = await leaseAgents();
  const { operations, session_id } = await create(agents);
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = await operations["agent.run"](say(session_id, "wait"), { signal });
  for await (const { data } of run) if (data.type === "turn.started") stopping.abort();
  expect(await operations["agent.snapshot"]({ session_id })).toMatchObject({ activity: "running" });
  await expect(operations["agent.run"](say(session_id, "two"))).rejects.toMatchObject({
    code: "busy",
  });
  await waitFor("the handle is let go", () => agents.deps.hosts.all()[0].followed === 0);
});

test("a run whose worker is killed ends with the news of that", async () => {
  await using agents = await leaseAgents();
  const { operations, session_id } = await create(agents);
  const items = await collect(await operations["agent.run"](say(session_id, "crash")));
  expect(typesOf(items)).toEqual(["turn.started", "message.user", "session.exited"]);
  expect(await operations["agent.snapshot"]({ session_id })).toMatchObject({ activity: "idle" });
});

test("a snapshot and the events behind it are the whole log, each event once", async () => {
  await using agents = await leaseAgents();
  const { operations, session_id } = await create(agents);
  await collect(await operations["agent.run"](say(session_id, "one")));
  const { events_tail, transcript } = await operations["agent.snapshot"]({ session_id });
  const { events_tail: told } = await agents.host.client.call("session.get", { session_id });
  expect(events_tail).toBe(told);
  expect(transcript.map(({ role }) => role)).toEqual(["user", "assistant"]);
  const [next] = await collect(await operations["agent.run"](say(session_id, "two")));
  expect(next?.data.type).toBe("turn.started");
});

test("what the log tells needs no worker, and what only a worker knows brings it back", async () => {
  await using agents = await leaseAgents();
  const { operations, session_id } = await create(agents);
  await collect(await operations["agent.run"](say(session_id, "park")));
  const isEnded = async () => {
    const { state } = await agents.host.client.call("session.get", { session_id });
    return state.kind === "exited";
  };
  await waitFor("it has ended", isEnded);
  expect(await operations["agent.snapshot"]({ session_id })).toMatchObject({ agent: "root" });
  expect(await operations["agent.queue"]({ session_id })).toMatchObject({ waiting: [] });
  expect(await operations["agent.permissions"]({ session_id })).toMatchObject({ session: {} });
  expect(await operations["agent.transcript"]({ session_id, from: 1 })).toMatchObject({
    position: 1,
    total: 2,
  });
  expect(await operations["agent.team"]({ session_id })).toMatchObject({
    agent_names: ["root", "broken", "silent", "killed"],
    default_agent: "root",
  });
  expect(await isEnded()).toBe(true);
  const { tools } = await operations["agent.tools"]({ session_id });
  expect(tools[0]?.description.length).toBe(600_000);
  expect(await isEnded()).toBe(false);
});

test("an interrupt ends the turn and says how many it ended", async () => {
  await using agents = await leaseAgents();
  const { operations, session_id } = await create(agents);
  const caller = createTestCaller();
  const sessions = createSessionOperations(
    {
      ...agents.deps,
      interruptAgent: (session) => interruptAgent(agents.deps, caller.where, session),
    },
    caller,
  );
  await operations["agent.send"](say(session_id, "wait"));
  expect(await sessions["session.interrupt"]({ session_id })).toEqual({ signalled: 1 });
  expect(await sessions["session.interrupt"]({ session_id })).toEqual({ signalled: 0 });
  await operations["agent.send"](say(session_id, "park"));
  await waitFor("it has ended", async () => {
    const { state } = await sessions["session.get"]({ session_id });
    return state.kind === "exited";
  });
  expect(await sessions["session.interrupt"]({ session_id })).toEqual({ signalled: 0 });
  expect(await sessions["session.get"]({ session_id })).toMatchObject({ life: 1 });
  await expect(sessions["session.input"]({ session_id, data: "x" })).rejects.toMatchObject({
    code: "unsupported",
  });
});

test("a session that is no agent is told apart, and a foreign one does not exist", async () => {
  await using agents = await leaseAgents();
  const { session_id } = await agents.host.create({ argv: ["/bin/cat"], stdin: true });
  const operations = operationsOf(agents.deps);
  const foreign = operationsOf(
    agents.deps,
    createTestCaller({ workspaces: [HERE], workspace_id: HERE }),
  );
  const ask = (own: typeof operations) => [
    own["agent.snapshot"]({ session_id }),
    own["agent.send"](say(session_id, "hello")),
    own["agent.run"](say(session_id, "hello")),
    own["agent.tools"]({ session_id }),
    own["agent.fork"]({ session_id, at: 0 }),
    own["agent.create"]({ resume_session_id: session_id }),
  ];
  for (const asked of ask(operations))
    await expect(asked).rejects.toMatchObject({
      code: "unsupported",
      message: "this session is a command, not an agent",
    });
  for (const asked of ask(foreign))
    await expect(asked).rejects.toMatchObject({ code: "session_not_found" });
});

test("a fork begins with the spec of its source, and its title counts", async () => {
  await using agents = await leaseAgents();
  const { operations, session_id } = await create(agents, { title: "X", safety: "strict" });
  await collect(await operations["agent.run"](say(session_id, "one")));
  await expect(operations["agent.fork"]({ session_id, at: 3 })).rejects.toMatchObject({
    code: "invalid_request",
    details: { total: 2 },
  });
  const first = await operations["agent.fork"]({ session_id, at: 2 });
  const second = await operations["agent.fork"]({ session_id: first.session_id, at: 0 });
  for (const [fork, from, at, title] of [
    [first.session_id, session_id, 2, "X (fork 1)"],
    [second.session_id, first.session_id, 0, "X (fork 2)"],
  ] as const) {
    using handle = await agents.deps.hosts.of(fork).open(fork);
    expect(handle.session.title).toBe(title);
    const spec = await agents.agents.views.read(handle, ({ fold }) => fold.spec);
    expect(spec).toMatchObject({ safety: "strict", forked_from: { session_id: from, at } });
  }
});

test("the audit has who did what, with counts and without words", async () => {
  await using agents = await leaseAgents();
  agents.audited.splice(0);
  const { operations, session_id } = await create(agents);
  const request = { ...say(session_id, "secret words"), idempotency_key: "k" };
  await operations["agent.send"](request);
  await operations["agent.send"](request);
  await operations["agent.followup"](say(session_id, "secret words"));
  await operations["agent.permit"]({ session_id, safety: "strict", deny: ["shell"] });
  await operations["agent.elicitation"]({
    ...{ session_id, elicitation_id: "e", action: "accept", content: { a: "secret words" } },
  });
  await expect(
    operations["agent.resume"]({ session_id, approval_id: "none", decision: "approve" }),
  ).rejects.toMatchObject({ code: "nothing_pending" });
  for (const decision of ["approve_session", "reject"] as const)
    await operations["agent.resume"]({ session_id, approval_id: "a", decision });
  await operations["agent.switch"]({ session_id, name: "silent" });
  await operations["agent.model"]({ session_id, model: "" });
  const fork = await operations["agent.fork"]({ session_id, at: 0 });
  expect(agents.audited.map(({ action, target_id }) => [action, target_id])).toEqual([
    ["agent.created", session_id],
    ["agent.sent", session_id],
    ["agent.sent", session_id],
    ["agent.permitted", session_id],
    ["agent.answered", session_id],
    ["agent.approved", session_id],
    ["agent.rejected", session_id],
    ["agent.changed", session_id],
    ["agent.changed", session_id],
    ["agent.forked", fork.session_id],
  ]);
  expect(agents.audited[1]?.details).toEqual({ kind: "message", messages: 1 });
  expect(agents.audited[3]?.details).toEqual({ safety: "strict", allow: 0, ask: 0, deny: 1 });
  expect(JSON.stringify(agents.audited)).not.toContain("secret words");
});

test("a prompt file that a request names and that is not there is refused before anything starts", async () => {
  await using agents = await leaseAgents();
  const operations = operationsOf(agents.deps);
  const fault = {
    code: "invalid_request",
    message: "prompt_files: the prompt file no-such-file.md is not there",
    details: { field: "prompt_files", path: "no-such-file.md" },
  };
  const asked = { source: inline, prompt_files: ["no-such-file.md"] };
  await expect(operations["agent.create"](asked)).rejects.toMatchObject(fault);
  await expect(operations["team.load"]({ ...asked, working_dir: "." })).rejects.toMatchObject(
    fault,
  );
  // Without a directory there is nowhere to look.
  expect(await operations["team.load"](asked)).toMatchObject({ default_agent: "root" });
  const [host] = agents.deps.hosts.all();
  expect(await host.call("session.list", {})).toMatchObject({ sessions: [] });
});
