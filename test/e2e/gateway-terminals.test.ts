import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTask, openTerminals } from "#test/harness/gateway/terminals.ts";
import { openTestGateway } from "#test/harness/gateway.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** For the tests that need no gateway of their own. */
const leaseGateway = leaseForFile(() => openTestGateway());

const UNKNOWN_TASK = "tsk_0000000000000000";
const UNKNOWN_SESSION = "ses_0000000000000000";
const UNKNOWN_WORKSPACE = "wsp_0000000000000000";

test("a terminal of a task is opened, typed into and printed, then ends", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const { session_id, work_dir, shell } = await client.opened(task, { cols: 0 });
  expect({ work_dir, shell }).toEqual({
    work_dir: task.work_dir,
    shell: expect.stringMatching(/bash$/),
  });
  client.type(session_id, "stty size; echo $((6 * 7))x\n");
  await client.printed(session_id, "42x");
  await client.printed(session_id, "24 80");
  client.type(session_id, "exit 3\n");
  const end = { session_id, exit_code: 3, signal: null, reason: "exited" };
  expect(await client.exit(session_id)).toEqual(end);
});

test("a task of another workspace is one that does not exist, and nothing is started", async () => {
  await using gateway = await leaseGateway();
  const mine = await gateway.get("workspace.create", { name: "mine" });
  const other = await gateway.get("workspace.create", { name: "other" });
  using foreign = await openTask(gateway, other);
  using own = await openTask(gateway, mine);
  const { workspace_id } = mine;
  const secret = await gateway.mint({
    user_id: "ada",
    role: "operator",
    workspaces: [workspace_id],
  });
  await using client = await openTerminals(gateway.as(secret));
  const ask = (task_id: string, place: string) =>
    client.refusal("terminal.open", { task_id, workspace_id: place });
  const unknown = await ask(UNKNOWN_TASK, workspace_id);
  const hidden = await ask(foreign.task_id, other.workspace_id);
  const crossed = await ask(foreign.task_id, workspace_id);
  expect(unknown.code).toBe("task_not_found");
  for (const { code, message } of [hidden, crossed])
    expect({ code, message: message.replace(foreign.task_id, UNKNOWN_TASK) }).toEqual({
      code: unknown.code,
      message: unknown.message,
    });
  // His own task in a workspace that he may not see sounds as in one that is not there.
  const there = await ask(own.task_id, other.workspace_id);
  const nowhere = await ask(own.task_id, UNKNOWN_WORKSPACE);
  expect([there.code, nowhere.code]).toEqual(["workspace_mismatch", "workspace_mismatch"]);
  expect((await gateway.get("session.list", {})).sessions).toEqual([]);
});

test("who sees both workspaces hears of the mismatch, and nothing is started", async () => {
  await using gateway = await leaseGateway();
  const { workspace_id } = await gateway.get("workspace.create", { name: "other" });
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const place = { task_id: task.task_id, workspace_id };
  expect((await client.refusal("terminal.open", place)).code).toBe("workspace_mismatch");
  const unknown = { task_id: UNKNOWN_TASK, workspace_id };
  expect((await client.refusal("terminal.open", unknown)).code).toBe("task_not_found");
  expect((await gateway.get("session.list", {})).sessions).toEqual([]);
});

test("a foreign session is unknown to every frame, and so is one that is not attached here", async () => {
  await using gateway = await leaseGateway();
  const mine = await gateway.get("workspace.create", { name: "mine" });
  using task = await openTask(gateway);
  await using owner = await openTerminals(gateway);
  const session_id = await owner.open(task);
  const workspaces = [mine.workspace_id];
  const secret = await gateway.mint({ user_id: "ada", role: "admin", workspaces });
  await using client = await openTerminals(gateway.as(secret));
  const unknown = await client.refusal("terminal.attach", { session_id: UNKNOWN_SESSION });
  const foreign = await client.refusal("terminal.attach", { session_id });
  expect(unknown).toMatchObject({ code: "session_not_found", session_id: UNKNOWN_SESSION });
  expect(foreign.code).toBe("session_not_found");
  expect(foreign.message.replace(session_id, UNKNOWN_SESSION)).toBe(unknown.message);
  await using elsewhere = await openTerminals(gateway);
  for (const other of [client, elsewhere]) {
    const data = { session_id, data_b64: "eA==" };
    expect((await other.sessionRefusal("terminal.data", data)).code).toBe("session_not_found");
    const size = { session_id, cols: 99, rows: 9 };
    expect((await other.sessionRefusal("terminal.resize", size)).code).toBe("session_not_found");
    const close = await other.sessionRefusal("terminal.close", { session_id });
    expect(close.code).toBe("session_not_found");
  }
  const { state, cols } = await gateway.get("session.get", { session_id });
  expect({ state, cols }).toEqual({ state: { kind: "running" }, cols: 80 });
});

test("a directory that is not there is said; one behind a link is where the terminal is", async () => {
  await using gateway = await leaseGateway();
  using dir = openTempDir();
  const link = join(dir.path, "link");
  mkdirSync(join(dir.path, "real"));
  symlinkSync("real", link);
  using gone = await openTask(gateway, { work_dir: join(dir.path, "gone") });
  using linked = await openTask(gateway, { work_dir: link });
  await using client = await openTerminals(gateway);
  const { task_id, workspace_id } = gone;
  const refusal = await client.refusal("terminal.open", { task_id, workspace_id });
  expect(refusal.code).toBe("spawn_failed");
  expect(refusal.message).toContain(gone.work_dir);
  const session_id = await client.open(linked);
  client.type(session_id, "pwd -P | sed 's/^/at:/'\n");
  await client.printed(session_id, `at:${join(dir.path, "real")}`);
});

test("the terminal's environment names what it belongs to and holds none of the server's tokens", async () => {
  const env = {
    ...process.env,
    LANG: "C.UTF-8",
    ANTHROPIC_API_KEY: "sk-of-the-server",
    REINS_TOKEN: "of-the-server",
    GITHUB_TOKEN: "of-the-server",
  };
  await using leased = await leaseGateway();
  await using gateway = await openTestGateway({ host: leased.host, env });
  using task = await openTask(gateway, { issue_id: "ISS-7", prior_session_id: "claude-42" });
  await using client = await openTerminals(gateway);
  const session_id = await client.open(task);
  client.type(session_id, "env; echo en''d\n");
  await client.printed(session_id, "end\r\n");
  const lines = client.output(session_id).toString().split("\r\n");
  const found = new Map(
    lines.map((line) => [line.split("=")[0], line.slice(line.indexOf("=") + 1)]),
  );
  const names = ["SESSION_ID", "WORKSPACE_ID", "TASK_ID", "ISSUE_ID", "USER_ID"];
  expect([
    ...names.map((name) => found.get(`REINS_${name}`)),
    found.get("CLAUDE_SESSION_ID"),
  ]).toEqual([session_id, task.workspace_id, task.task_id, "ISS-7", "local", "claude-42"]);
  expect([found.get("TERM"), found.get("LANG")]).toEqual(["xterm-256color", "C.UTF-8"]);
  expect(lines.join()).not.toContain("of-the-server");
  expect(lines.join()).not.toContain(gateway.token);
});

test("the exit carries code, signal and reason apart", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const session_id = await client.open(task);
  client.type(session_id, "kill -9 $$\n");
  const end = { exit_code: 137, signal: "SIGKILL", reason: "exited" };
  expect(await client.exit(session_id)).toMatchObject(end);
});

test("all output comes, then the exit, then the id means nothing here", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const session_id = await client.open(task);
  client.type(session_id, "head -c 1000000 /dev/zero | tr '\\0' y; exit\n");
  await client.exit(session_id);
  const count = client
    .output(session_id)
    .toString("latin1")
    .match(/y{1000000}/g)?.length;
  expect(count).toBe(1);
  expect(client.order(session_id)).toEqual(["opened", "data", "exit"]);
  const late = await client.sessionRefusal("terminal.data", { session_id, data_b64: "eA==" });
  expect(late.code).toBe("session_not_found");
  // It can be looked at again, as a whole.
  const { length } = client.output(session_id);
  expect(await client.attach(session_id, 0)).toMatchObject({ role: "viewer", tail: length });
  await waitFor("a second exit", () => client.all("terminal.exit").length === 2);
  expect(client.output(session_id).length).toBe(2 * length);
});

test("closes agree: the first reason stays, each is acknowledged behind the exit", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const session_id = await client.open(task);
  client.send("terminal.close", { session_id, reason: "first" });
  client.send("terminal.close", { session_id, reason: "second" });
  await waitFor("both echoes", () => client.all("terminal.close").length === 2);
  expect(client.all("terminal.close").map(({ reason }) => reason)).toEqual(["first", "second"]);
  expect(client.all("terminal.exit")).toMatchObject([{ session_id, reason: "user_requested" }]);
  expect(client.order(session_id).slice(-2)).toEqual(["exit", "close"]);
  const { state } = await gateway.get("session.get", { session_id });
  expect(state).toMatchObject({ kind: "exited", reason: "user_requested", detail: "first" });
  const again = await client.sessionRefusal("terminal.close", { session_id });
  expect(again.code).toBe("session_not_found");
});

test("a frame that is wrong is answered by what is wrong, and the socket lives", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const { task_id, workspace_id } = task;
  client.socket.send("no JSON");
  client.socket.send(Buffer.from([1, 2, 3]));
  client.send("terminal.dance", {});
  client.send("terminal.open", { request_id: "a", task_id });
  client.send("terminal.open", { request_id: "b", task_id, workspace_id, color: "red" });
  client.send("terminal.open", { request_id: "c", task_id, workspace_id, cols: 5000 });
  client.send("terminal.open", { request_id: "d", task_id, workspace_id, user_id: "a\0b" });
  client.send("terminal.data", { session_id: UNKNOWN_SESSION, data_b64: "not base64!" });
  await waitFor("all errors", () => client.all("terminal.error").length === 8);
  expect(client.all("terminal.error").map(({ code }) => code)).toEqual(
    Array(8).fill("invalid_request"),
  );
  const named = client
    .all("terminal.error")
    .map(({ request_id, session_id }) => request_id ?? session_id);
  const none = undefined;
  expect(named).toEqual([none, none, none, "a", "b", "c", "d", UNKNOWN_SESSION]);
  expect(await client.open(task)).toMatch(/^ses_/);
});

test("a session without a terminal is not attached here", async () => {
  await using gateway = await leaseGateway();
  await using client = await openTerminals(gateway);
  const { session_id } = await gateway.get("session.create", {
    kind: "command",
    command: "cat",
    stdin: true,
  });
  const { code, message } = await client.refusal("terminal.attach", { session_id });
  expect({ code, message }).toEqual({
    code: "invalid_request",
    message: expect.stringContaining(`/v1/sessions/${session_id}/ws`),
  });
});

test("who may only look attaches and sees, and neither opens, types, resizes nor ends", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using owner = await openTerminals(gateway);
  const session_id = await owner.open(task);
  await owner[Symbol.asyncDispose]();
  await waitFor("nobody is there", async () => {
    return (await gateway.get("session.get", { session_id })).viewers === 0;
  });
  const secret = await gateway.mint({ user_id: "eve", role: "viewer" });
  await using client = await openTerminals(gateway.as(secret));
  // Nobody holds control, and still it is not hers.
  expect((await client.attach(session_id)).role).toBe("viewer");
  const { task_id, workspace_id } = task;
  const open = await client.refusal("terminal.open", { task_id, workspace_id });
  const data = await client.sessionRefusal("terminal.data", { session_id, data_b64: "eA==" });
  const size = await client.sessionRefusal("terminal.resize", { session_id, cols: 99, rows: 9 });
  const close = await client.sessionRefusal("terminal.close", { session_id });
  const codes = [open, data, size, close].map(({ code }) => code);
  expect(codes).toEqual(["forbidden", "not_controller", "not_controller", "not_controller"]);
  const { state, cols } = await gateway.get("session.get", { session_id });
  expect({ state, cols }).toEqual({ state: { kind: "running" }, cols: 80 });
});

test("a token speaks for its own user, an administrator's also for others", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  const secret = await gateway.mint({ user_id: "ada", role: "operator" });
  await using ada = await openTerminals(gateway.as(secret));
  const { task_id, workspace_id } = task;
  const asBob = { task_id, workspace_id, user_id: "bob" };
  expect((await ada.refusal("terminal.open", asBob)).code).toBe("forbidden");
  expect((await gateway.get("session.list", {})).sessions).toEqual([]);
  const own = await ada.open(task, { user_id: "ada" });
  expect((await gateway.get("session.get", { session_id: own })).user_id).toBe("ada");
  await using admin = await openTerminals(gateway);
  const bobs = await admin.open(task, { user_id: "bob" });
  const session = await gateway.get("session.get", { session_id: bobs });
  expect(session).toMatchObject({
    user_id: "bob",
    controller: { holder: expect.stringContaining("bob") },
  });
  admin.type(bobs, "echo user:$REINS_USER_ID\n");
  await admin.printed(bobs, "user:bob");
});

test("the socket holds a limited number of terminals, those being opened included", async () => {
  await using leased = await leaseGateway();
  const flags = { shell: "/bin/sh" };
  await using gateway = await openTestGateway({ host: leased.host, flags });
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const { task_id, workspace_id } = task;
  const most = limits.terminals_per_socket;
  for (let at = 0; at <= most; at += 1)
    client.send("terminal.open", { request_id: `n${at}`, task_id, workspace_id });
  await waitFor("all are there", () => client.all("terminal.opened").length === most, {
    timeout: 30_000,
  });
  expect(client.all("terminal.error")).toMatchObject([
    { request_id: `n${most}`, code: "too_many" },
  ]);
  const { session_id } = await client.next("terminal.opened");
  // Who is here already may begin again.
  expect((await client.attach(session_id)).role).toBe("controller");
  client.send("terminal.close", { session_id });
  await client.next("terminal.close");
  expect(await client.open(task)).toMatch(/^ses_/);
});

test("the end of the socket detaches from everything and ends nothing", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const ids = [await client.open(task), await client.open(task)];
  await client[Symbol.asyncDispose]();
  for (const session_id of ids) {
    const get = () => gateway.get("session.get", { session_id });
    await waitFor("nobody is there", async () => (await get()).viewers === 0);
    expect(await get()).toMatchObject({ state: { kind: "running" }, controller: null });
  }
  const actions = (await gateway.get("audit.list", { target_id: ids[0] ?? "" })).entries;
  expect(actions.map(({ action }) => action)).toEqual([
    "session.detached",
    "session.attached",
    "session.opened",
  ]);
});
