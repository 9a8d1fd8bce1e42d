import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { operations } from "#contract/operations.ts";
import { sendPlain } from "#test/harness/access-http.ts";
import { openServedGateway, type ServedGateway } from "#test/harness/access-serve.ts";
import { nowhere } from "#test/harness/access-world.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openDoor, openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { countDescriptors, isAlive } from "#test/harness/processes.ts";
import { repeats } from "#test/harness/repeats.ts";
import { refusalOf } from "#test/harness/socket.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** How a server behaves towards the operator who runs it. */

let gateway: TestGateway;
let servedGateway: Promise<ServedGateway> | undefined;
beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await (await servedGateway)?.[Symbol.asyncDispose]();
});

/** A process of its own with room for few descriptors, for the tests that look at it from outside. */
function serve(): Promise<ServedGateway> {
  servedGateway ??= openServedGateway(["/bin/sh", "-c", 'ulimit -n 80; exec "$@"', "limited"]);
  return servedGateway;
}

const command = (line: string, more: object = {}) =>
  gateway.get("session.create", { kind: "command", command: line, ...more });
const ended = (session_id: never) =>
  gateway.get("session.wait", { session_id, for: "exit", timeout_ms: 10_000 });

interface SentEvent {
  readonly id: number;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** As a browser would, but strictly: each has an id, a name and one line of data. */
function parseEvents(text: string): SentEvent[] {
  const blocks = text.split("\n\n").filter((block) => block !== "" && !block.startsWith(":"));
  return blocks.map((block) => {
    const match = /^id: (\d+)\nevent: (\S+)\ndata: (.*)$/.exec(block);
    if (match === null) throw new Error(`no event: ${block}`);
    const [, id, event = "", data = ""] = match;
    return { id: Number(id), event, data: JSON.parse(data) };
  });
}

test("an interrupt of what has ended is a conflict; an unknown id is the same on every way to it", async () => {
  const { session_id } = await command("true");
  await ended(session_id as never);
  const late = await gateway.call("session.interrupt", { session_id });
  expect([late.status, late.body.error?.code]).toEqual([409, "already_exited"]);
  const unknown = nowhere.session_id;
  const paths = ["", "/output", "/events", "/screen", "/export"];
  for (const path of paths) {
    const response = await gateway.fetch(`/v1/sessions/${unknown}${path}`);
    expect(await response.json()).toMatchObject({ error: { code: "session_not_found" } });
  }
  for (const path of ["/interrupt", "/input"]) {
    const response = await gateway.fetch(`/v1/sessions/${unknown}${path}`, { method: "POST" });
    expect(await response.json()).toMatchObject({ error: { code: "session_not_found" } });
  }
  const refusal = await refusalOf(gateway.attach(unknown));
  expect([refusal.status, refusal.body.error?.code]).toEqual([404, "session_not_found"]);
  const malformed = await refusalOf(gateway.attach("nonsense"));
  expect([malformed.status, malformed.body.error?.code]).toEqual([404, "session_not_found"]);
});

test("a session can be read the instant its id is known, and one that cannot start says why", async () => {
  for (let times = 0; times < repeats({ few: 6, full: 100 }); times += 1) {
    const { session_id } = await command("true");
    expect((await gateway.call("session.get", { session_id })).status).toBe(200);
    expect((await gateway.fetch(`/v1/sessions/${session_id}/output`)).status).toBe(200);
  }
  const failed = await gateway.call("session.create", { kind: "command", argv: ["/no/such"] });
  expect([failed.status, failed.body.error?.code]).toEqual([422, "spawn_failed"]);
  expect(failed.body.error?.message).toContain("/no/such");
});

describe("output by offset", () => {
  test("is read in ranges, while it runs and after", async () => {
    const { session_id } = await command("printf 0123456789; read x; printf end", { stdin: true });
    const read = async (query: string) => {
      const response = await gateway.fetch(`/v1/sessions/${session_id}/output?${query}`);
      const next = response.headers.get("x-reins-next");
      return { status: response.status, text: await response.text(), next };
    };
    await gateway.get("session.wait", { session_id, for: "text", text: "9", timeout_ms: 10_000 });
    expect(await read("since=3&limit=4")).toEqual({ status: 200, text: "3456", next: "7" });
    expect(await read("since=10")).toEqual({ status: 200, text: "", next: "10" });
    const waiting = read("since=10&wait_ms=10000");
    await gateway.get("session.input", { session_id, data: "\n" });
    expect(await waiting).toMatchObject({ status: 200, text: "end", next: "13" });
    await ended(session_id as never);
    expect(await read("since=8")).toEqual({ status: 200, text: "89end", next: "13" });
    expect(await read("since=13&wait_ms=60000")).toMatchObject({ status: 200, text: "" });
  });

  test("an offset behind the end is refused at once, however long one would wait", async () => {
    const { session_id } = await command("printf abc; read x", { stdin: true });
    await gateway.get("session.wait", { session_id, for: "text", text: "c", timeout_ms: 10_000 });
    for (const query of ["since=4", "since=4&wait_ms=60000"]) {
      const response = await gateway.fetch(`/v1/sessions/${session_id}/output?${query}`);
      expect(response.status).toBe(416);
      expect(await response.json()).toMatchObject({ error: { code: "offset_out_of_range" } });
    }
  });
});

describe("events of a session", () => {
  test("are valid, have ids to come back with, and the exit has its code as a number", async () => {
    const { session_id } = await command("exit 3");
    await ended(session_id as never);
    const path = `/v1/sessions/${session_id}/events?follow=0`;
    const response = await gateway.fetch(path);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toContain("no-store");
    const events = parseEvents(await response.text());
    expect(events[0]?.event).toBe("session.opened");
    expect(events.every(({ event, data }) => event === data.type)).toBe(true);
    const exit = events.find(({ event }) => event === "session.exited");
    expect(exit?.data).toMatchObject({ state: { exit_code: 3 } });
    for (const [index, { id }] of events.entries()) {
      const rest = await gateway.fetch(path, { headers: { "Last-Event-ID": String(id) } });
      expect(parseEvents(await rest.text())).toEqual(events.slice(index + 1));
      const since = await gateway.fetch(`${path}&since=${id}`);
      expect(parseEvents(await since.text())).toEqual(events.slice(index + 1));
    }
  });

  test("follow a session as it changes", async () => {
    const { session_id } = await gateway.get("session.create", {
      kind: "terminal",
      argv: ["/bin/cat"],
    });
    const response = await gateway.fetch(`/v1/sessions/${session_id}/events`);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let heard = "";
    const hear = async (what: string) => {
      while (!heard.includes(what)) {
        const next = await reader?.read();
        if (next?.done !== false) throw new Error(`the events ended without ${what}`);
        heard += next.value;
      }
    };
    await hear("session.opened");
    await gateway.get("session.resize", { session_id, cols: 91, rows: 19 });
    await hear("session.resized");
    await gateway.get("session.close", { session_id });
    await hear("session.exited");
    await reader?.cancel();
  });

  test("errors before the start are JSON with their status", async () => {
    const { session_id } = await command("true");
    await ended(session_id as never);
    const path = `/v1/sessions/${session_id}/events`;
    const cases = [
      [`/v1/sessions/${nowhere.session_id}/events`, {}, 404, "session_not_found"],
      [`${path}?since=1`, {}, 416, "offset_out_of_range"],
      [`${path}?since=999999`, {}, 416, "offset_out_of_range"],
      [`${path}?since=-1`, {}, 400, "invalid_request"],
      [path, { "Last-Event-ID": "x" }, 400, "invalid_request"],
    ] as const;
    for (const [where, headers, status, code] of cases) {
      const response = await gateway.fetch(where, { headers: { ...headers } });
      expect(response.headers.get("content-type")).toBe("application/json");
      expect([response.status, await response.json()]).toMatchObject([status, { error: { code } }]);
    }
  });

  test("of all sessions have no ids, so one that was sent is no mistake", async () => {
    const response = await gateway.fetch("/v1/events", { headers: { "Last-Event-ID": "5" } });
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });

  test("a HEAD for them is answered and opens nothing that stays", async () => {
    const served = await serve();
    const argv = ["/bin/cat"];
    const { session_id } = await served.get("session.create", { kind: "terminal", argv });
    for (const path of [`/v1/sessions/${session_id}/events`, "/v1/events"]) {
      const response = await served.fetch(path, { method: "HEAD" });
      expect([response.status, response.headers.get("content-type")]).toEqual([
        200,
        "text/event-stream",
      ]);
    }
    await waitFor("nobody follows it", async () =>
      (await (await served.fetch("/metrics")).text()).includes("reins_feeds 0"),
    );
  });
});

test("without a token, or with a wrong one, every route and every socket is a 401 of the one shape", async () => {
  const guarded = Object.values(operations).filter(({ role }) => String(role) !== "anyone");
  for (const [index, { http, answers }] of guarded.entries()) {
    const [method = "", path = ""] = http.split(" ");
    const from = `127.0.7.${index + 1}`;
    for (const authorization of [{}, { Authorization: "Bearer wrong" }]) {
      const upgrade: Record<string, string> =
        String(answers) === "socket"
          ? {
              Connection: "Upgrade",
              Upgrade: "websocket",
              "Sec-WebSocket-Version": "13",
              "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
            }
          : {};
      const headers = { ...authorization, ...upgrade };
      const answer = await sendPlain(gateway.url, { method, path, from, headers });
      expect([http, answer.status]).toEqual([http, 401]);
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code: "unauthenticated" } });
    }
  }
});

describe("limits", () => {
  test("a create whose answer was lost is repeated with its key and runs once", async () => {
    using dir = openTempDir();
    const counter = join(dir.path, "count");
    const request = {
      kind: "command",
      command: `echo run >> ${counter}`,
      idempotency_key: "lost",
    } as const;
    const { hostname, port, host } = new URL(gateway.url);
    const body = JSON.stringify(request);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/sessions HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${gateway.token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      () => socket.destroy(),
    );
    const made = await Promise.all(
      Array.from({ length: 5 }, () => gateway.get("session.create", request)),
    );
    expect(new Set(made.map(({ session_id }) => session_id)).size).toBe(1);
    await ended(made[0]?.session_id as never);
    expect(readFileSync(counter, "utf8")).toBe("run\n");
    const { sessions } = await gateway.get("session.list", { q: counter });
    expect(sessions.length).toBe(1);
  });

  test("are published", async () => {
    expect(await gateway.get("server.limits", {})).toEqual(limits);
  });

  test("more than there may be is 429 with the time to wait", async () => {
    const secret = await gateway.mint({ user_id: "many", role: "viewer" });
    const door = gateway.as(secret);
    // The room is shared out, so that one token does not take all of it.
    for (let made = 0; made < limits.tickets; made += 50) {
      const batch = Array.from({ length: 50 }, () => door.call("ticket.create", {}));
      if ((await Promise.all(batch)).some(({ status }) => status !== 201)) break;
    }
    const { status, headers, body } = await door.call("ticket.create", {});
    expect([status, body.error?.code]).toEqual([429, "too_many"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

describe("a server that", () => {
  test("connections that come and go leave no descriptor behind", async () => {
    const served = await serve();
    const argv = ["/bin/cat"];
    const { session_id } = await served.get("session.create", { kind: "terminal", argv });
    const visit = async (times: number) => {
      for (let time = 0; time < times; time += 1) {
        const socket = await served.attach(session_id, time % 2 === 0 ? "" : "?since=0");
        // Half of them leave before anything was said.
        if (time % 4 < 2) await socket.frame("connected");
        await socket[Symbol.asyncDispose]();
        if (time % 5 === 0) await visitStreams();
      }
    };
    const visitStreams = async () => {
      const leaving = new AbortController();
      const { signal } = leaving;
      const early = served.fetch("/v1/events", { signal }).catch(() => undefined);
      const late = await served.fetch(`/v1/sessions/${session_id}/events`);
      await late.body?.cancel();
      leaving.abort();
      await early;
    };
    const settle = async (most: number) =>
      await waitFor(`at most ${most} descriptors`, () => {
        const now = countDescriptors(served.pid);
        return now <= most && now;
      });
    await visit(20);
    const before = await settle(60);
    const host = countDescriptors(served.host.pid);
    await visit(repeats({ few: 20, full: 500 }));
    await settle(before);
    const session = await waitFor("nobody watches", async () => {
      const found = await served.get("session.get", { session_id });
      return found.viewers === 0 && found;
    });
    expect(session.state).toEqual({ kind: "running" });
    expect(countDescriptors(served.host.pid)).toBeLessThanOrEqual(host);
  });

  test("has no descriptors left goes on when some are free again", async () => {
    const served = await serve();
    const argv = ["/bin/cat"];
    const { session_id } = await served.get("session.create", { kind: "terminal", argv });
    const { hostname, port } = new URL(served.url);
    const crowd = Array.from({ length: 120 }, () => {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => undefined);
      return socket;
    });
    await waitFor("as many as fit", () => countDescriptors(served.pid) >= 70);
    for (const socket of crowd) socket.destroy();
    await waitFor("an answer", async () => {
      const response = await served.fetch(`/v1/sessions/${session_id}`).catch(() => undefined);
      return response?.status === 200;
    });
    expect(served.ended()).toBeUndefined();
    await using socket = await served.attach(session_id, "?role=controller");
    await socket.ask({ type: "stdin", data: "here\n", id: "1" });
    await socket.printed("here");
  });

  // The last one: it ends the server.
  test("is told to stop says so to every client, and what runs goes on under the next", async () => {
    const served = await serve();
    const argv = ["/bin/bash", "--norc", "-i"];
    const { session_id } = await served.get("session.create", { kind: "terminal", argv });
    await using attached = await served.attach(session_id, "?role=controller");
    await using terminals = await served.socket("/v1/terminals/ws");
    await attached.frame("connected");
    const events = await served.fetch(`/v1/sessions/${session_id}/events`);
    const waiting = served.call("session.wait", { session_id, for: "exit", timeout_ms: 600_000 });
    const gone = waiting.then(
      ({ status }) => status,
      () => 0,
    );
    await served.stop("SIGTERM");
    expect(served.ended()).toBe(0);
    expect(attached.frames.at(-1)).toMatchObject({ type: "closing", reason: "shutting_down" });
    expect((await attached.ended()).code).toBe(1012);
    expect((await terminals.ended()).code).toBe(1012);
    await events.text();
    expect(await gone).not.toBe(200);
    const session = await served.host.client.call("session.get", { session_id });
    expect(session.state).toEqual({ kind: "running" });
    expect(isAlive(session.pid ?? 0)).toBe(true);
  });
});

test("the audit says who opened, attached, wrote, resized, took over and closed, and nothing that was typed", async () => {
  const named = async (user_id: string) =>
    openDoor(gateway.url, await gateway.mint({ user_id, role: "operator" }));
  const [ann, bob] = [await named("ann"), await named("bob")];
  const argv = ["/bin/cat"];
  const { session_id } = await ann.get("session.create", { kind: "terminal", argv });
  const first = await ann.attach(session_id, "?role=controller");
  await first.ask({ type: "stdin", data: "typed-by-ann\n", id: "1" });
  await first.ask({ type: "stdin", data: "more\n", id: "2" });
  await first.ask({ type: "resize", cols: 101, rows: 31, id: "3" });
  const second = await bob.attach(session_id, "?role=controller&takeover=1");
  await second.frame("connected");
  await first.ended();
  await second.ask({ type: "signal", signal: "SIGCONT", id: "1" });
  await second[Symbol.asyncDispose]();
  await bob.get("session.input", { session_id, data: "typed-by-bob" });
  await bob.get("session.update", { session_id, title: "named" });
  await ann.get("session.close", { session_id, reason: "enough" });
  const list = () => gateway.get("audit.list", { target_id: session_id });
  const { entries } = await waitFor("both have left", async () => {
    const page = await list();
    const left = page.entries.filter(({ action }) => action === "session.detached");
    return left.length === 2 && page;
  });
  const told = entries.map(({ user_id, action }) => `${user_id} ${action}`);
  for (const fact of [
    "ann session.opened",
    "ann session.attached",
    "ann session.wrote",
    "ann session.resized",
    "bob session.attached",
    "bob session.taken_over",
    "ann session.detached",
    "bob session.signalled",
    "bob session.detached",
    "bob session.wrote",
    "bob session.renamed",
    "ann session.closed",
  ])
    expect(told).toContain(fact);
  const detailsOf = (user: string, action: string) =>
    entries.find((entry) => entry.user_id === user && entry.action === action)?.details;
  expect(detailsOf("ann", "session.wrote")).toEqual({ inputs: 2, bytes: 18 });
  expect(detailsOf("ann", "session.resized")).toMatchObject({ cols: 101, rows: 31 });
  expect(detailsOf("bob", "session.taken_over")).toEqual({ from: expect.stringMatching(/^ann/) });
  expect(detailsOf("ann", "session.closed")).toMatchObject({ reason: "enough" });
  expect(entries.every(({ at }) => Math.abs(Date.parse(at) - Date.now()) < 60_000)).toBe(true);
  expect(JSON.stringify(entries)).not.toMatch(/typed-by/);
});

test("every end that a rule or a person caused is in the audit with its reason", async () => {
  const create = (more: object) =>
    gateway.get("session.create", { kind: "terminal", argv: ["/bin/cat"], ...more });
  const idle = await create({ idle_timeout_ms: 100 });
  const short = await create({ lifetime_ms: 100 });
  const parent = await create({});
  const child = await create({ parent_session_id: parent.session_id });
  const own = await gateway.get("session.create", { kind: "command", command: "exit 3" });
  const reasonsOf = async ({ session_id }: { readonly session_id: string }) => {
    const { entries } = await gateway.get("audit.list", { target_id: session_id });
    return entries
      .filter(({ action }) => action === "session.ended")
      .map(({ details }) => details.reason);
  };
  await gateway.get("session.close", { session_id: parent.session_id });
  const expected = [
    [idle, "idle_timeout"],
    [short, "lifetime_timeout"],
    [parent, "user_requested"],
    [child, "parent_closed"],
  ] as const;
  for (const [session, reason] of expected)
    await waitFor(`${reason} in the audit`, async () =>
      (await reasonsOf(session)).includes(reason),
    );
  await gateway.get("session.wait", {
    session_id: own.session_id,
    for: "exit",
    timeout_ms: 10_000,
  });
  expect(await reasonsOf(own)).toEqual([]);
  await gateway.get("session.close", { session_id: idle.session_id, purge: true });
  const removal = await waitFor("the removal in the audit", async () => {
    const { entries } = await gateway.get("audit.list", { target_id: idle.session_id });
    return entries.find(({ action }) => action === "session.removed");
  });
  expect(removal.details).toMatchObject({ reason: "user_requested" });
});

test("a session that a request still starts in a workspace while it is removed is closed", async () => {
  const { workspace_id } = await gateway.get("workspace.create", { name: "short" });
  await gateway.get("workspace.delete", { workspace_id });
  // As the host is asked by a request that was checked before the removal.
  const { session_id } = await gateway.host.create({
    ...{ kind: "terminal", argv: ["/bin/cat"] },
    labels: { workspace_id },
  });
  const { state } = await waitFor("its end", async () => {
    const session = await gateway.get("session.get", { session_id });
    return session.state.kind === "exited" && session;
  });
  expect(state).toMatchObject({
    reason: "user_requested",
    detail: `the workspace ${workspace_id} was removed`,
  });
});

test("the event stream of a session that is purged ends", async () => {
  const argv = ["/bin/cat"];
  const { session_id } = await gateway.get("session.create", { kind: "terminal", argv });
  const stream = await gateway.fetch(`/v1/sessions/${session_id}/events`);
  await gateway.get("session.close", { session_id, purge: true });
  expect(await stream.text()).toContain("session.exited");
});
