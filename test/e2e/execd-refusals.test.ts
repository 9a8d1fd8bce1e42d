import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { locateDataDir } from "#host/data-dir.ts";
import { findHost } from "#host/socket/start-host.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { type ExecdDoor, openExecdDoor } from "#test/harness/gateway/execd.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** The execd API: what is refused, in its shape, and what its events look like on the wire. */

let gateway: TestGateway;
let execd: ExecdDoor;
beforeAll(async () => {
  gateway = await openTestGateway();
  execd = openExecdDoor(gateway);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

const UNKNOWN_SESSION = "shl_0000000000000000";
const UNKNOWN_COMMAND = "ses_0000000000000000";
const routes = (session: string, command: string): [string, string, object?][] => [
  ["GET", `/session/${session}`],
  ["DELETE", `/session/${session}`],
  ["POST", `/session/${session}/run`, { command: "true" }],
  ["GET", `/command/status/${command}`],
  ["GET", `/command/${command}/logs`],
  ["DELETE", `/command?id=${command}`],
];
const shape = (code: string) => ({ code, message: expect.stringMatching(/.{10}/) });

describe("who may", () => {
  test("a missing or a wrong token is refused on every route and before the upgrade", async () => {
    const all: [string, string, object?][] = [
      ...routes(UNKNOWN_SESSION, UNKNOWN_COMMAND),
      ["GET", "/ping"],
      ["POST", "/session", {}],
      ["POST", "/command", { command: "true" }],
    ];
    for (const token of [undefined, `reins_${"a".repeat(43)}`]) {
      const stranger = openExecdDoor(gateway.as(token));
      for (const [method, path, body] of all.slice(0, token === undefined ? 9 : 4))
        expect([path, await stranger.ask(method, path, body)]).toEqual([
          path,
          { status: 401, body: shape("UNAUTHORIZED") },
        ]);
      expect(await stranger.refusal(UNKNOWN_SESSION)).toEqual({
        status: 401,
        ...shape("UNAUTHORIZED"),
      });
    }
  });

  test("the header of that API takes one of our tokens", async () => {
    const headers = { "X-EXECD-ACCESS-TOKEN": gateway.token };
    const bare = gateway.as(undefined);
    expect((await bare.fetch("/ping", { headers })).status).toBe(200);
    const id = await execd.createSession();
    await using socket = await bare.socket(`/ws/session/${id}`, { headers });
    await socket.frame("connected");
  });

  test("a page of somebody else's is refused in the same shape", async () => {
    const response = await gateway.fetch("/ping", { headers: { Origin: "https://example.com" } });
    expect([response.status, await response.json()]).toEqual([403, shape("FORBIDDEN")]);
  });

  test("our own routes keep their own shape", async () => {
    const response = await gateway.as(undefined).fetch("/v1/sessions");
    expect(await response.json()).toMatchObject({ error: { code: "unauthenticated" } });
  });

  test("who may only look runs nothing and steers nothing", async () => {
    const token = await gateway.mint({ user_id: "looker", role: "viewer", workspaces: "*" });
    const viewer = openExecdDoor(gateway.as(token));
    const forbidden = { status: 403, body: shape("FORBIDDEN") };
    const id = await execd.createSession();
    expect(await viewer.ask("POST", "/command", { command: "true" })).toEqual(forbidden);
    expect(await viewer.ask("POST", "/session", {})).toEqual(forbidden);
    expect(await viewer.ask("DELETE", `/session/${id}`)).toEqual(forbidden);
    expect(await viewer.refusal(id)).toMatchObject({ status: 403, code: "FORBIDDEN" });
    expect(await viewer.ask("GET", `/session/${id}`)).toMatchObject({ status: 200 });
  });

  test("what belongs to another workspace does not exist, in the same words", async () => {
    const { workspace_id } = await gateway.get("workspace.create", { name: "elsewhere" });
    const token = await gateway.mint({
      user_id: "stranger",
      role: "operator",
      workspaces: [workspace_id],
    });
    const stranger = openExecdDoor(gateway.as(token));
    const session = await execd.createSession();
    await using socket = await execd.attach(session);
    await socket.frame("connected");
    const [started] = await execd.events("/command", { command: "sleep 1000", background: true });
    const command = String(started?.data.text);
    for (const [method, path, body] of routes(session, command)) {
      const answer = await stranger.ask(method, path, body);
      expect([path, answer]).toEqual([path, { status: 404, body: shape("CONTEXT_NOT_FOUND") }]);
    }
    const refused = await stranger.refusal(session);
    const unknown = await stranger.refusal(UNKNOWN_SESSION);
    expect(refused).toEqual({
      ...unknown,
      message: unknown.message.replace(UNKNOWN_SESSION, session),
    });
    expect(await execd.ask("GET", `/command/status/${command}`)).toMatchObject({
      body: { running: true },
    });
    expect(socket.closed).toBeUndefined();
    await execd.ask("DELETE", `/command?id=${command}`);
  });
});

describe("what is asked", () => {
  test.each([UNKNOWN_SESSION, "x", UNKNOWN_COMMAND])("an unknown id %s is 404", async (id) => {
    const command = id === UNKNOWN_SESSION ? UNKNOWN_COMMAND : "x";
    for (const [method, path, body] of routes(id, command)) {
      const answer = await execd.ask(method, path, body);
      expect([path, answer]).toEqual([path, { status: 404, body: shape("CONTEXT_NOT_FOUND") }]);
    }
    expect(await execd.refusal(id)).toEqual({ status: 404, ...shape("CONTEXT_NOT_FOUND") });
  });

  test("a terminal is no command", async () => {
    const { session_id } = await gateway.get("session.create", { kind: "terminal" });
    expect(await execd.ask("GET", `/command/status/${session_id}`)).toMatchObject({ status: 404 });
    expect(await execd.ask("DELETE", `/command?id=${session_id}`)).toMatchObject({ status: 404 });
    await gateway.get("session.close", { session_id });
  });

  test.each([
    ["no command", {}],
    ["an empty command", { command: " " }],
    ["no text", { command: 7 }],
    ["a timeout of nothing", { command: "true", timeout: 0 }],
    ["an unknown field", { command: "true", colour: "red" }],
    ["a name of ours", { command: "true", envs: { REINS_SESSION_ID: "x" } }],
    ["a directory that is not there", { command: "true", cwd: "/no/such/directory" }],
    ["a group without a user", { command: "true", gid: 0 }],
  ])("%s is refused before anything runs", async (_what, body) => {
    const refused = { status: 400, body: shape("INVALID_REQUEST_BODY") };
    expect(await execd.ask("POST", "/command", body)).toEqual(refused);
  });

  test("a body that is no JSON is refused, and an empty one makes a session", async () => {
    const broken = await gateway.fetch("/command", { method: "POST", body: "{" });
    expect([broken.status, await broken.json()]).toEqual([400, shape("INVALID_REQUEST_BODY")]);
    const made = await gateway.fetch("/session", { method: "POST" });
    expect([made.status, await made.json()]).toEqual([200, { session_id: expect.any(String) }]);
  });

  test("null is the same as nothing", async () => {
    const body = { command: "echo a", cwd: null, background: null, timeout: null, uid: null };
    const types = (await execd.events("/command", body)).map(({ data }) => data.type);
    expect(types).toEqual(["init", "stdout", "execution_complete"]);
  });

  test("a directory that cannot be made is named, for a session and for its run", async () => {
    const id = await execd.createSession();
    expect(await execd.ask("POST", "/session", { cwd: "/dev/null/x" })).toEqual({
      status: 400,
      body: { code: "INVALID_REQUEST_BODY", message: expect.stringContaining("/dev/null/x") },
    });
    const body = { command: "true", cwd: "/no/such/directory" };
    expect(await execd.ask("POST", `/session/${id}/run`, body)).toMatchObject({ status: 400 });
  });

  test("another user than the server's is not supported, and nothing runs", async () => {
    using dir = openTempDir();
    const file = join(dir.path, "ran");
    const uid = (process.getuid?.() ?? 0) + 1;
    const answer = await execd.ask("POST", "/command", { command: `touch ${file}`, uid });
    expect(answer).toEqual({ status: 501, body: shape("NOT_SUPPORTED") });
    expect(existsSync(file)).toBe(false);
  });

  test("an interrupt names its command", async () => {
    const missing = { status: 400, body: shape("MISSING_QUERY") };
    expect(await execd.ask("DELETE", "/command")).toEqual(missing);
  });

  test.each(["-1", "x", "1.5"])("a cursor of %s is refused", async (cursor) => {
    const [started] = await execd.events("/command", { command: "echo a" });
    const path = `/command/${String(started?.data.text)}/logs?cursor=${cursor}`;
    const refused = { status: 400, body: shape("INVALID_REQUEST_BODY") };
    expect(await execd.ask("GET", path)).toEqual(refused);
  });

  test.each([
    ["GET", "/files/info?path=/etc"],
    ["POST", "/code"],
    ["POST", "/pty"],
    ["GET", "/metrics/watch"],
  ])("%s %s is not supported and says so", async (method, path) => {
    expect(await execd.ask(method, path)).toEqual({ status: 501, body: shape("NOT_SUPPORTED") });
  });

  test.each([
    ["PUT", "/session", {}],
    ["GET", "/command/status/x/y", {}],
    ["GET", "/nothing", { "X-EXECD-ACCESS-TOKEN": "any" }],
  ])("%s %s is a route that the API does not have", async (method, path, headers) => {
    const answer = await gateway.fetch(path, { method, headers });
    expect([answer.status, await answer.json()]).toEqual([404, shape("NOT_FOUND")]);
  });

  test("its header makes every other refusal one of this API, and leaves /v1 as it is", async () => {
    const headers = { "X-EXECD-ACCESS-TOKEN": "wrong" };
    const ask = async (path: string) => {
      const answer = await gateway.as(undefined).fetch(path, { headers });
      return [answer.status, await answer.json()];
    };
    expect(await ask("/metrics")).toEqual([401, shape("UNAUTHORIZED")]);
    expect(await ask("/v1/isolated/sessions")).toEqual([501, shape("NOT_SUPPORTED")]);
    expect(await ask("/v1/sessions")).toMatchObject([401, { error: { code: "unauthenticated" } }]);
    expect(await ask("/v1/nothing")).toMatchObject([400, { error: { code: "invalid_request" } }]);
  });

  test("a run takes code and timeout_ms for command and timeout, and not both of them", async () => {
    const path = `/session/${await execd.createSession()}/run`;
    const events = await execd.events(path, { code: "echo a", timeout_ms: 10_000 });
    const types = events.map(({ data }) => data.type);
    expect(types).toEqual(["init", "stdout", "execution_complete"]);
    const late = await execd.events(path, { code: "sleep 60", timeout_ms: 100 });
    expect(late.at(-1)?.data).toMatchObject({ type: "error", timed_out: true });
    const refused = { status: 400, body: shape("INVALID_REQUEST_BODY") };
    for (const body of [{ code: "a", command: "a" }, { timeout: 1 }, { code: " " }])
      expect(await execd.ask("POST", path, body)).toEqual(refused);
  });

  test("a replay from past the end is refused before anything runs", async () => {
    using dir = openTempDir();
    const file = join(dir.path, "ran");
    const id = await execd.createSession();
    const answer = await execd.ask("POST", `/session/${id}/run?since=1`, {
      command: `touch ${file}`,
    });
    expect(answer).toMatchObject({ status: 416, body: { code: "RUNTIME_ERROR" } });
    expect(existsSync(file)).toBe(false);
    const [first] = await execd.events(`/session/${id}/run?since=0`, { command: "true" });
    expect(first?.data).toMatchObject({ type: "replay", text: "", offset: 0 });
  });
});

describe("the stream", () => {
  test("is server-sent events, each line with its offset, and ends with the code", async () => {
    const events = await execd.events("/command", { command: "echo ab; printf c; exit 3" });
    const [init, ...rest] = events;
    expect(init?.data).toEqual({
      type: "init",
      text: expect.stringMatching(/^ses_/),
      timestamp: expect.any(Number),
    });
    const timestamp = expect.any(Number);
    expect(rest).toEqual([
      { id: "3", data: { type: "stdout", offset: 0, text: "ab", newline: true, timestamp } },
      { id: "4", data: { type: "stdout", offset: 3, text: "c", newline: false, timestamp } },
      {
        id: "4",
        data: {
          type: "error",
          error: { ename: "CommandExecError", evalue: "3", traceback: ["exit status 3"] },
          exit_code: 3,
          signal: null,
          timed_out: false,
          execution_time: expect.any(Number),
          timestamp,
        },
      },
    ]);
  });

  test("a signal that ended the command is named", async () => {
    const events = await execd.events("/command", { command: "kill -KILL $$" });
    expect(events.at(-1)?.data).toMatchObject({
      type: "error",
      error: { evalue: "137", traceback: ["ended by SIGKILL"] },
      exit_code: 137,
      signal: "SIGKILL",
    });
  });

  test("a token that is revoked ends it with an error, and the command goes on", async () => {
    await using strict = await openTestGateway({ patience: { revocationCheckMs: 20 } });
    const { secret, token_id } = await strict.get("token.create", {
      user_id: "short",
      role: "operator",
      workspaces: "*",
    });
    const response = await strict.as(secret).fetch("/command", {
      method: "POST",
      body: JSON.stringify({ command: "echo a; sleep 1000" }),
    });
    const reading = response.text();
    await strict.get("token.revoke", { token_id });
    const text = await reading;
    expect(text).toContain('"ename":"UNAUTHORIZED"');
    const { sessions } = await strict.get("session.list", { kind: "command" });
    expect(sessions.map(({ state }) => state.kind)).toEqual(["running"]);
  });

  test("a host that dies ends it with an error that says what is known", async () => {
    await using own = await openTestGateway();
    const id = await openExecdDoor(own).createSession();
    const socket = await openExecdDoor(own).attach(id);
    await socket.frame("connected");
    const response = await own.fetch("/command", {
      method: "POST",
      body: JSON.stringify({ command: "echo a; sleep 1000" }),
    });
    const reading = response.text();
    await waitFor("its output", async () => {
      const { sessions } = await own.get("session.list", { state: "running" });
      return sessions.some(({ tail }) => tail === 2);
    });
    await own.host.kill("SIGKILL");
    const text = await reading;
    expect(text).toContain('"text":"a"');
    expect(text).toContain('"evalue":"host_lost"');
    expect(await socket.ended()).toMatchObject({ code: 1012 });
    await using again = await openExecdDoor(own).attach(id);
    await again.ended();
    expect(again.frames.map(({ type }) => type)).toEqual(["connected", "error", "exit"]);
    expect(again.frames.at(-1)).toEqual({ type: "exit", exit_code: -1 });
    using next = await findHost(locateDataDir(own.host.dataDir));
    await next?.call("host.shutdown", {});
  });
});
