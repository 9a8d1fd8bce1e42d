import { expect, test } from "vitest";
import { createClient } from "#client/client.ts";
import type { CallName, OperationInput, OperationOutput } from "#contract/operations.ts";
import { operations } from "#contract/operations.ts";
import { workerPath } from "#test/harness/agent-worker.ts";
import { inline } from "#test/harness/agents.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";

const OF_AGENTS = /^(agent|team)\./;
const answeringJson = Object.entries(operations)
  .filter(([, { answers }]) => answers === "json")
  .map(([name]) => name);

function createCalls({ url, token }: TestGateway) {
  const client = createClient({ url, token });
  const called = new Set<string>();
  const call = async <N extends CallName>(
    name: N,
    input: OperationInput<N>,
  ): Promise<OperationOutput<N>> => {
    called.add(name);
    const output = await client.call(name, input);
    operations[name].output.parse(output);
    return output;
  };
  return { call, called };
}

test("every operation that answers with JSON is called and answers by its schema", async () => {
  await using gateway = await openTestGateway();
  const { call, called } = createCalls(gateway);
  await call("server.health", {});
  await call("server.limits", {});
  await call("server.openapi", {});
  expect(await call("caller.get", {})).toMatchObject({ role: "admin" });

  const { workspace_id } = await call("workspace.create", { name: "one" });
  await call("workspace.update", { workspace_id, name: "two" });
  expect(await call("workspace.get", { workspace_id })).toMatchObject({ name: "two" });
  expect((await call("workspace.list", { limit: 1 })).workspaces).toHaveLength(1);
  const { task_id } = await call("task.create", { workspace_id, work_dir: "/", issue_id: "i-1" });
  await call("task.update", { task_id, issue_id: null });
  expect(await call("task.get", { task_id })).toMatchObject({ issue_id: null });
  expect((await call("task.list", { workspace_id })).tasks).toHaveLength(1);
  await call("task.delete", { task_id });
  await call("workspace.delete", { workspace_id });
  expect(await call("directory.list", { path: "/us" })).toMatchObject({ names: ["usr"] });

  const { session_id } = await call("session.create", { kind: "terminal", argv: ["cat"] });
  const { glances } = await call("session.glances", { session_ids: [session_id] });
  expect(glances).toMatchObject([{ session_id, line: "", needs_answer: false }]);
  await call("session.update", { session_id, title: "ä title" });
  expect(await call("session.get", { session_id })).toMatchObject({ title: "ä title" });
  expect((await call("session.list", { state: "live", q: "ä title" })).sessions).toHaveLength(1);
  await call("session.resize", { session_id, cols: 100, rows: 30 });
  await call("session.input", { session_id, data: "hello\n", input_id: "a" });
  const found = await call("session.wait", {
    session_id,
    for: "text",
    text: "hello",
    timeout_ms: 10_000,
  });
  expect(found.matched).toBe(true);
  expect(await call("session.screen", { session_id, format: "text" })).toMatchObject({ cols: 100 });
  await call("session.signal", { session_id, signal: "CONT" });
  await call("session.interrupt", { session_id });
  await call("session.close", { session_id, reason: "done" });

  const { shell_id } = await call("shell.create", {});
  await call("shell.get", { shell_id });
  expect((await call("shell.list", {})).shells).toHaveLength(1);
  await call("shell.close", { shell_id });

  const late = await call("process.execute", {
    command: "cat",
    workdir: "/",
    timeout: "100ms",
    tty: true,
  });
  // An answer may have an error of its own; that is no refusal.
  expect(late).toMatchObject({ timed_out: true, error: "command timed out after 100ms" });
  const [process] = (await call("process.list", { running: true })).processes;
  const process_id = process?.process_id ?? ("" as never);
  await call("process.input", { process_id, eof: true });
  expect(await call("process.wait", { process_id })).toMatchObject({ exit_code: 0 });
  await call("process.output", { process_id });
  await call("process.signal", { process_id, signal: "kill" });

  const { token_id } = await call("token.create", { user_id: "ann", role: "viewer" });
  expect((await call("token.list", { user_id: "ann" })).tokens).toHaveLength(1);
  await call("token.revoke", { token_id });
  const { ticket } = await call("ticket.create", {});
  await call("ticket.exchange", { ticket });
  await call("caller.logout", {});
  expect((await call("audit.list", { limit: 5 })).entries).toHaveLength(5);

  expect([...called].sort()).toEqual(answeringJson.filter((name) => !OF_AGENTS.test(name)).sort());
});

test("every operation of agents that answers with JSON is called and answers by its schema", async () => {
  await using gateway = await openTestGateway({ command: [process.execPath, workerPath] });
  const { call, called } = createCalls(gateway);
  const { team_id } = await call("team.load", { source: inline });
  const { teams } = await call("team.list", {});
  expect(teams).toContainEqual({
    name: "hello",
    description: "Shows what an agent session is like.",
    example: true,
  });
  const { session_id } = await call("agent.create", { team_id });
  const messages = [{ content: "hello" }];
  await call("agent.send", { session_id, messages });
  await call("agent.steer", { session_id, messages, framing: "plain" });
  await call("agent.followup", { session_id, messages });
  await call("agent.resume", { session_id, approval_id: "a", decision: "approve" });
  await call("agent.elicitation", { session_id, elicitation_id: "e", action: "decline" });
  await call("agent.summarize", { session_id });
  await call("agent.switch", { session_id, name: "root" });
  await call("agent.model", { session_id, model: "" });
  await call("agent.permit", { session_id, safety: "strict" });
  await call("agent.restart_toolset", { session_id, name: "a/b c" });
  await call("agent.prompt", { session_id, name: "a/b c", arguments: { a: "b" } });
  await call("agent.fork", { session_id, at: 1 });
  expect(await call("agent.transcript", { session_id, from: 1 })).toMatchObject({ position: 1 });
  // What is left only reads, and takes nothing but which session.
  for (const name of answeringJson.filter((name) => OF_AGENTS.test(name) && !called.has(name)))
    await call(name as "agent.snapshot", { session_id });
  expect([...called].sort()).toEqual(answeringJson.filter((name) => OF_AGENTS.test(name)).sort());
});

test("output, documents and streams come as they are", async () => {
  await using gateway = await openTestGateway();
  const client = createClient({ url: gateway.url, token: gateway.token });
  const { session_id } = await client.call("session.create", {
    kind: "command",
    command: "printf 'a\\377b'",
  });
  await client.call("session.wait", { session_id, for: "exit", timeout_ms: 10_000 });
  const range = await client.output({ session_id, since: 1, limit: 1 });
  expect(range).toMatchObject({ offset: 1, next: 2, tail: 3, gap: null, state: "exited" });
  expect([...range.bytes]).toEqual([0xff]);
  await expect(client.output({ session_id, since: 9 })).rejects.toMatchObject({
    code: "offset_out_of_range",
  });

  const recording = await client.document("session.export", { session_id, format: "json" });
  expect(recording.media_type).toMatch(/json/);
  expect(JSON.parse(await new Response(recording.body).text())).toBeTypeOf("object");
  const metrics = await client.document("server.metrics", {});
  expect(await new Response(metrics.body).text()).toMatch(/reins_/);

  const types: string[] = [];
  for await (const { data } of client.stream("session.events", { session_id, follow: false }))
    types.push(data.type);
  expect(types[0]).toBe("session.opened");
  expect(types).toContain("session.exited");

  const { shell_id } = await client.call("shell.create", {});
  const run: string[] = [];
  for await (const { data } of client.stream("shell.run", { shell_id, command: "echo hi" })) {
    run.push(data.type === "stdout" ? data.data : data.type);
  }
  expect(run).toEqual(["run", "hi\n", "exit"]);

  for await (const { data } of client.stream("sessions.watch", {})) {
    if (data.type === "ready")
      await client.call("session.create", { kind: "command", command: "true" });
    // A session that opens and ends between two looks is one event, with its newest state.
    if ("session" in data && data.session.state.kind === "exited") break;
  }
});

test("a refusal says why: a wrong token, a missing session, a role that is too low", async () => {
  await using gateway = await openTestGateway();
  const viewer = createClient({
    url: gateway.url,
    token: await gateway.mint({ user_id: "ann", role: "viewer" }),
  });
  const stranger = createClient({ url: gateway.url, token: "wrong" });
  const session_id = "ses_0123456789abcdef";
  await expect(stranger.call("session.list", {})).rejects.toMatchObject({
    code: "unauthenticated",
  });
  await expect(viewer.call("session.get", { session_id })).rejects.toMatchObject({
    code: "session_not_found",
    details: { request_id: expect.stringMatching(/^req_/) },
  });
  await expect(viewer.call("session.create", { kind: "terminal" })).rejects.toMatchObject({
    code: "forbidden",
  });
  for (const [client, code] of [
    [stranger, "unauthenticated"],
    [viewer, "session_not_found"],
  ] as const) {
    await using attached = client.attach(session_id);
    expect((await Array.fromAsync(attached)).at(-1)).toMatchObject({
      type: "failed",
      fault: { code },
    });
  }
});
