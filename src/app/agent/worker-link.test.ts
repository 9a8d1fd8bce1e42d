import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { limits } from "#contract/limits.ts";
import { openTestAgents, type TestAgents } from "#test/harness/agents.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { WorkerLink } from "./worker-link.ts";

const leaseAgents = leaseForFile(() => openTestAgents());

/** A child of any make that an agent's session consists of. */
async function openChild({ host, deps }: TestAgents, script: string) {
  const argv = [process.execPath, "-e", script];
  const { session_id } = await host.create({ kind: "agent", argv });
  return { session_id, deps };
}

const ECHO = `require("node:readline").createInterface(process.stdin).on("line", (line) => {
  const { id, ...rest } = JSON.parse(line);
  console.log(JSON.stringify({ type: "reply", id, result: rest }));
});`;
const SILENT = "process.stdin.resume()";

test("a request is answered by the reply with its id, and nobody reads on afterwards", async () => {
  await using agents = await leaseAgents();
  const { session_id } = await openChild(agents, ECHO);
  const { worker } = agents.agents;
  expect(await worker.ask({ session_id, type: "agent", input: { name: "a" } })).toEqual({
    type: "agent",
    name: "a",
  });
  await waitFor("the handle is let go", () => agents.deps.hosts.all()[0].followed === 0);
  expect(worker.size).toBe(0);
});

test("those who ask at the same time share one reader, and each hears its own answer", async () => {
  await using agents = await leaseAgents();
  const { session_id } = await openChild(agents, ECHO);
  const { worker } = agents.agents;
  const names = Array.from({ length: 50 }, (_, index) => `agent ${index}`);
  const asked = names.map((name) => worker.ask({ session_id, type: "agent", input: { name } }));
  expect(worker.size).toBe(1);
  expect(await Promise.all(asked)).toEqual(names.map((name) => ({ type: "agent", name })));
});

test("lines of several pieces arrive whole, also when two gateways send them at once", async () => {
  await using agents = await leaseAgents();
  const { session_id } = await openChild(agents, ECHO);
  const other = agents.gateway();
  const instructions = ["a", "b", "c", "d"].map((letter) =>
    letter.repeat(limits.body_bytes / 2 - 500),
  );
  const asked = instructions.map((instruction, index) =>
    (index % 2 === 0 ? agents.deps : other).agents.worker.ask({
      ...{ session_id, type: "summarize", input: { instruction } },
    }),
  );
  const small = agents.agents.worker.ask({ session_id, type: "agent", input: { name: "small" } });
  expect(await Promise.all(asked)).toEqual(
    instructions.map((instruction) => ({ type: "summarize", instruction })),
  );
  expect(await small).toMatchObject({ name: "small" });
});

test("a line that no door would take is refused before anything is typed", async () => {
  await using agents = await leaseAgents();
  const { session_id } = await openChild(agents, ECHO);
  const { worker } = agents.agents;
  const input = { instruction: "x".repeat(limits.body_bytes) };
  await expect(worker.ask({ session_id, type: "summarize", input })).rejects.toMatchObject({
    code: "payload_too_large",
  });
  expect(await worker.ask({ session_id, type: "agent", input: { name: "a" } })).toMatchObject({
    name: "a",
  });
});

test("a refusal comes with the worker's own code", async () => {
  await using agents = await leaseAgents();
  const script = ECHO.replace("result: rest", "error: { code: 'busy', message: 'not now' }");
  const { session_id } = await openChild(agents, script);
  const asked = agents.agents.worker.ask({ session_id, type: "tools", input: {} });
  await expect(asked).rejects.toMatchObject({ code: "busy", message: "not now" });
});

test("a worker that ends before it answers is said to have ended", async () => {
  await using agents = await leaseAgents();
  const { session_id } = await openChild(
    agents,
    "process.stdin.once('data', () => process.exit())",
  );
  const { worker } = agents.agents;
  const asked = [1, 2].map(() => worker.ask({ session_id, type: "tools", input: {} }));
  for (const result of await Promise.allSettled(asked))
    expect(result).toMatchObject({
      reason: { code: "already_exited", message: expect.stringContaining("ended") },
    });
  await waitFor("the handle is let go", () => agents.deps.hosts.all()[0].followed === 0);
});

test("a worker that does not answer is waited for as long as the limit says, and longer for a summary", async () => {
  await using agents = await leaseAgents();
  const { session_id } = await openChild(agents, SILENT);
  const clock = new ManualClock();
  const worker = new WorkerLink({ ...agents.deps, clock });
  const tools = worker.ask({ session_id, type: "tools", input: {} });
  const summary = worker.ask({ session_id, type: "summarize", input: {} });
  clock.advance(limits.agent_reply_ms - 1);
  expect(worker.size).toBe(1);
  clock.advance(1);
  await expect(tools).rejects.toMatchObject({ code: "host_unavailable" });
  expect(worker.size).toBe(1);
  clock.advance(9 * limits.agent_reply_ms);
  await expect(summary).rejects.toMatchObject({ code: "host_unavailable" });
  expect([worker.size, clock.timers]).toEqual([0, 0]);
});

test("who stops waiting has the signal's reason, and the worker is asked all the same", async () => {
  await using agents = await leaseAgents();
  const { session_id } = await openChild(
    agents,
    "process.stdin.on('data', (data) => process.stderr.write(data))",
  );
  const { worker } = agents.agents;
  const stopping = new AbortController();
  const asked = worker.ask({ session_id, type: "tools", input: {}, signal: stopping.signal });
  await waitFor("the line is there", async () => {
    const { tail } = await agents.host.client.call("session.get", { session_id });
    return tail > 0;
  });
  stopping.abort(new Error("enough"));
  await expect(asked).rejects.toThrow("enough");
  expect(worker.size).toBe(0);
});

test("a host that goes away ends the waiting", async () => {
  await using agents = await openTestAgents();
  const { session_id } = await openChild(agents, SILENT);
  const asked = agents.agents.worker.ask({ session_id, type: "tools", input: {} });
  const refused = expect(asked).rejects.toMatchObject({ code: "host_unavailable" });
  await agents.host.kill("SIGKILL");
  await refused;
  expect(agents.agents.worker.size).toBe(0);
});
