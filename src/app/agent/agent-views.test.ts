import { expect, test } from "vitest";
import type { SessionHandle } from "#session/session-host.ts";
import { inline, openTestAgents, operationsOf } from "#test/harness/agents.ts";
import { AgentView } from "./agent-view.ts";
import { AgentViews } from "./agent-views.ts";

const SESSION = "ses_0123456789abcdef";
const fact = (type: string, more: object = {}) => ({
  ...{ type, at: "2026-01-01T00:00:00.000Z", session_id: SESSION },
  ...more,
});
const reply = (id: string, more: object) => ({ type: "reply", id, ...more });

test("a life can be asked when its first line was answered, and no longer when it has ended", () => {
  const view = new AgentView(SESSION);
  const after = (value: Record<string, unknown>) => {
    view.apply({ value, end: view.next + 10 });
    return view.worker;
  };
  const exited = { kind: "exited", exit_code: 0, signal: null, reason: "exited" };
  expect(view.worker).toBe("none");
  expect(after(reply("req_1", { result: {} }))).toBe("none");
  expect(after(reply("init_1", { error: { code: "team_invalid", message: "" } }))).toBe("refused");
  expect(after(reply("init_2", { result: {} }))).toBe("ready");
  expect(after(reply("init_3", { error: { code: "conflict", message: "" } }))).toBe("ready");
  expect(after(fact("session.exited", { state: { ...exited, tail: 0, final: true } }))).toBe(
    "none",
  );
  expect(after(reply("init_4", { result: {} }))).toBe("ready");
  expect(after(fact("session.resumed", { life: 2, from: 0 }))).toBe("none");
  expect(view.next).toBe(70);
});

test("lines that are no event, or none that we know, are left out and counted", () => {
  const view = new AgentView(SESSION);
  view.apply({ value: undefined, end: 5 });
  view.apply({ value: fact("message.user", { message_id: 1 }), end: 20 });
  view.apply({ value: fact("some.day"), end: 30 });
  view.apply({ value: fact("turn.started", { turn_id: "t" }), end: 40 });
  view.apply({ value: fact("turn.started", { turn_id: "s", subagent_id: "x" }), end: 50 });
  expect([view.next, view.findTurn("t"), view.findTurn("s")]).toEqual([50, 30, undefined]);
  expect(view.fold.activity).toBe("running");
});

test("of many sessions the least recently asked for is forgotten, and read again when asked for", async () => {
  await using agents = await openTestAgents();
  const operations = operationsOf(agents.deps);
  const views = new AgentViews({ sessions: 2, bytes: 1 << 20 });
  const hosts: SessionHandle[] = [];
  for (let index = 0; index < 3; index += 1) {
    const { session_id } = await operations["agent.create"]({ source: inline });
    hosts.push(await agents.deps.hosts.of(session_id).open(session_id));
  }
  const seen = new Set<AgentView>();
  for (const handle of hosts) seen.add(await views.read(handle, (view) => view));
  expect([views.size, seen.size]).toEqual([2, 3]);
  const [first] = hosts;
  if (first === undefined) throw new Error("no handle");
  const again = await views.read(first, (view) => view);
  expect([seen.has(again), again.fold.agent, views.size]).toEqual([false, "root", 2]);
  expect(await views.read(first, (view) => view)).toBe(again);
  const small = new AgentViews({ sessions: 9, bytes: 10 });
  await small.read(first, () => undefined);
  expect(small.size).toBe(0);
  for (const handle of hosts) handle[Symbol.dispose]();
});
