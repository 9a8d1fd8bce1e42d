import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { faults } from "#contract/faults.ts";
import { clientFrameTypes } from "#contract/frames.ts";
import { limits } from "#contract/limits.ts";
import type { OperationSpec } from "#contract/operations/operation-spec.ts";
import { type OperationName, operations } from "#contract/operations.ts";
import { terminalClientFrameTypes } from "#contract/terminal-frames.ts";
import { talk } from "#test/harness/access-http.ts";
import type { ServedGateway } from "#test/harness/access-serve.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { type FuzzAnswer, type FuzzRequest, sendMany, throwAt } from "#test/harness/fuzz-http.ts";
import { FuzzSource } from "#test/harness/fuzz-source.ts";
import { FUZZ_TIMES, type FuzzWorld, openFuzzWorld, sendFrames } from "#test/harness/fuzz-world.ts";
import { openTestGateway } from "#test/harness/gateway.ts";
import type { TestSocket } from "#test/harness/socket.ts";

/** Nonsense of every kind, the same each time: nothing crashes, nothing leaks, and what runs goes on. */

vi.setConfig({ testTimeout: 240_000 });
let world: FuzzWorld;
let gateway: ServedGateway;
let target: string;

beforeAll(async () => {
  world = await openFuzzWorld();
  gateway = world.gateway;
  target = world.target;
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const statuses = new Set<number>([
  ...[200, 201, 204],
  ...Object.values(faults).map(({ status }) => status),
]);

function check({ status, text }: FuzzAnswer, request: FuzzRequest): void {
  const what = `${request.method} ${request.path.slice(0, 200)} ${String(request.body).slice(0, 200)}`;
  // 501: what was asked makes sense for another kind of session.
  const isOurs = status >= 500 && status !== 501;
  if (!statuses.has(status) || isOurs) expect(`${what} → ${status} ${text}`).toBe("no");
  if (status < 400 || request.method === "HEAD") return;
  const { error } = JSON.parse(text) as { error?: Record<string, unknown> };
  if (Object.keys(error ?? {}).join() !== "code,message,details,request_id")
    expect(`${what} → ${text}`).toBe("a fault");
}

// Every key of the table is the name of an operation.
const all = Object.entries(operations) as [OperationName, OperationSpec][];
const fieldsOf = ({ input }: OperationSpec) =>
  Object.keys((input as { shape?: object }).shape ?? {});
const pathOf = (spec: OperationSpec, source: FuzzSource, sessionId = target) =>
  (spec.http.split(" ")[1] ?? "")
    .replace(":session_id", source.once(2) ? sessionId : "ses_0000000000000000")
    .replace(/:(\w+)/g, () => encodeURIComponent(source.text().toWellFormed().slice(0, 60)) || "x");

test("bodies", async () => {
  const source = new FuzzSource(1);
  const posts = all.filter(([, { http }]) => /^(POST|PATCH)/.test(http));
  const make = (): FuzzRequest => {
    const [name, spec] = source.pick(posts);
    const [method = ""] = spec.http.split(" ");
    const body = source.object(fieldsOf(spec));
    // What would be right by chance would run, end or wait for something.
    const isHarmless = ["session.update", "session.resize", "session.input"].includes(name);
    if (!isHarmless) body.nonsense = source.value();
    return {
      method,
      path: pathOf(spec, source, isHarmless ? target : "ses_0000000000000001"),
      headers: { ...world.authorized, "Content-Type": "application/json" },
      body: source.once(5) ? source.bytes(200) : source.json(body),
    };
  };
  await sendMany(gateway.url, FUZZ_TIMES, { make, check });
  await world.checkAfter();
});

test("queries", async () => {
  const source = new FuzzSource(2);
  const gets = all.filter(([, { http }]) => http.startsWith("GET"));
  const make = (): FuzzRequest => {
    const [, spec] = source.pick(gets);
    const names = fieldsOf(spec).filter((name) => !spec.http.includes(`:${name}`));
    const pairs = Array.from({ length: 1 + source.int(4) }, () => {
      const name = names.length > 0 && !source.once(3) ? source.pick(names) : source.text();
      const value = name === "wait_ms" ? "-1" : source.text().slice(0, 2000);
      const isRaw = source.once(6);
      return isRaw
        ? `${source.pick(["%", "%zz", "&&", "=", "a=b=c", "+", "%ff%fe"])}`
        : `${encodeURIComponent(name.toWellFormed().slice(0, 500))}=${encodeURIComponent(value.toWellFormed())}`;
    });
    const path = `${pathOf(spec, source)}?${pairs.join("&")}`;
    return { method: "GET", path, headers: world.authorized };
  };
  await sendMany(gateway.url, FUZZ_TIMES, { make, check });
  await world.checkAfter();
});

test("paths and methods", async () => {
  const source = new FuzzSource(3);
  const parts = [
    "v1",
    "sessions",
    "events",
    "ws",
    "metrics",
    "tokens",
    "..",
    ".",
    "",
    "%2f",
    "%00",
  ];
  const make = (): FuzzRequest => {
    const part = () =>
      source.once(3)
        ? encodeURIComponent(source.text().toWellFormed().slice(0, 300))
        : source.pick(parts);
    const path = `/${Array.from({ length: source.int(6) }, part).join("/")}`;
    const method = source.pick([
      "GET",
      "POST",
      "DELETE",
      "PATCH",
      "PUT",
      "OPTIONS",
      "HEAD",
      "PROPFIND",
    ]);
    return { method, path, headers: world.authorized };
  };
  await sendMany(gateway.url, FUZZ_TIMES, { make, check });
  await world.checkAfter();
});

test("headers", async () => {
  const source = new FuzzSource(4);
  const names = [
    "Host",
    "Origin",
    "Authorization",
    "Cookie",
    "Last-Event-ID",
    "Content-Type",
    "Upgrade",
  ];
  const paths = ["/v1/me", `/v1/sessions/${target}/events?follow=0`, "/v1/health", "/v1/events"];
  const host = new URL(gateway.url).host;
  const make = (): FuzzRequest => {
    const count = 1 + source.int(3);
    const fuzzed = Array.from({ length: count }, () => [source.pick(names), source.headerText()]);
    return {
      method: "GET",
      path: source.pick(paths),
      headers: { Host: host, ...world.authorized, ...Object.fromEntries(fuzzed) },
    };
  };
  await sendMany(gateway.url, FUZZ_TIMES, { make, check });
  await world.checkAfter();
});

test("bytes that are no HTTP, or nearly", async () => {
  const source = new FuzzSource(5);
  const heads = [
    "GET / HTTP/1.1\r\n",
    "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n",
    "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
    "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n",
    "GET /v1/terminals/ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "",
  ];
  let left = FUZZ_TIMES;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      const head = Buffer.from(source.pick(heads), "latin1");
      const ending = source.pick(["", "\r\n\r\n", "\0"]);
      const answer = await throwAt(
        gateway.url,
        Buffer.concat([head, source.bytes(80), Buffer.from(ending)]),
      );
      if (answer !== "" && !/^HTTP\/1\.1 [1-4]\d\d /.test(answer)) expect(answer).toBe("a refusal");
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  await world.checkAfter();
});

function codesOf(socket: TestSocket): Set<unknown> {
  const coded = socket.frames.map(({ code, payload }) => {
    const inner = payload as { readonly code?: unknown } | undefined;
    return code ?? inner?.code;
  });
  return new Set(coded.filter((code) => code !== undefined));
}

test("text frames of an attached client", async () => {
  const source = new FuzzSource(6);
  const socket = await gateway.attach(target, "?role=controller");
  await sendFrames(socket, () => {
    const frame = source.object(["data", "encoding", "cols", "rows", "id", "signal", "action"]);
    const type = source.once(5) ? source.value(1) : source.pick(clientFrameTypes);
    const isDangerous = type === "close" || type === "signal";
    const whole = { ...frame, type, ...(isDangerous ? { nonsense: 1 } : {}) };
    return source.once(5) ? source.text().slice(0, 1000) : source.json(whole);
  });
  const answer = await socket.ask({ type: "ping", id: "the last" });
  expect(answer).toMatchObject({ type: "pong" });
  expect(codesOf(socket).has("invalid_request")).toBe(true);
  expect(codesOf(socket).has("internal")).toBe(false);
  await socket[Symbol.asyncDispose]();
  await world.checkAfter();
});

test("binary frames of an attached client", async () => {
  const source = new FuzzSource(7);
  const protocols = ["reins.bin.v1"];
  const socket = await gateway.attach(target, "?role=controller", { protocols });
  await sendFrames(socket, () => source.bytes(source.once(50) ? 5000 : 30));
  expect(await socket.ask({ type: "ping", id: "the last" })).toMatchObject({ type: "pong" });
  expect([...codesOf(socket)]).toEqual(["invalid_request"]);
  await socket[Symbol.asyncDispose]();
  await world.checkAfter();
});

test("frames for terminals", async () => {
  const source = new FuzzSource(8);
  const socket = await gateway.socket("/v1/terminals/ws");
  const names = ["request_id", "session_id", "task_id", "data_b64", "cols", "rows", "since"];
  await sendFrames(socket, () => {
    const type = source.once(5) ? source.value(1) : source.pick(terminalClientFrameTypes);
    const isSafe = type !== "terminal.close" && type !== "terminal.open";
    const session = isSafe && source.once(2) ? { session_id: target } : {};
    const payload = source.once(6) ? source.value() : { ...source.object(names), ...session };
    if (source.once(20)) return source.bytes(40);
    return source.once(6) ? source.text().slice(0, 1000) : source.json({ type, payload });
  });
  socket.send({ type: "terminal.attach", payload: { request_id: "the last", session_id: target } });
  await socket.frame("terminal.attached", ({ payload }) => {
    return (payload as { request_id: string }).request_id === "the last";
  });
  expect(codesOf(socket).has("internal")).toBe(false);
  await socket[Symbol.asyncDispose]();
  await world.checkAfter();
});

describe("one by one", () => {
  const post = async (path: string, body: string | Buffer, headers: object = {}) => {
    const response = await gateway.fetch(path, {
      method: "POST",
      body,
      ...{ headers: { ...headers } },
    });
    const { error } = (await response.json()) as { error?: { code: string; message: string } };
    return { status: response.status, code: error?.code, message: error?.message ?? "" };
  };
  const refused = { status: 400, code: "invalid_request" };

  test("JSON of a hundred thousand levels", async () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    expect(await post("/v1/sessions", deep)).toMatchObject(refused);
    const inside = `{"kind":"command","command":"true","env":${deep}}`;
    expect(await post("/v1/sessions", inside)).toMatchObject(refused);
    const objects = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
    expect(await post("/v1/sessions", objects)).toMatchObject(refused);
    await using socket = await gateway.attach(target);
    socket.send(deep);
    expect(await socket.frame("error")).toMatchObject({ code: "invalid_request" });
    await checkAfterSocket(socket);
  });

  test("a body of a byte too many, with its length and without", async () => {
    const large = Buffer.alloc(limits.body_bytes + 1, 0x20);
    const tooLarge = { status: 413, code: "payload_too_large" };
    expect(await post("/v1/sessions", large)).toMatchObject(tooLarge);
    expect(await post("/v1/sessions", large.subarray(1))).toMatchObject(refused);
    const { host } = new URL(gateway.url);
    const head = `POST /v1/sessions HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${gateway.token}\r\n`;
    const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(17)}0\r\n\r\n`;
    expect(await talk(gateway.url, chunked)).toMatch(/^HTTP\/1.1 413 /);
    const announced = `${head}Content-Length: 99999999999\r\n\r\n`;
    expect(await talk(gateway.url, announced)).toMatch(/^HTTP\/1.1 413 /);
  });

  test("names that mean something to the language", async () => {
    for (const name of ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"]) {
      const body = `{"kind":"command","command":"true","${name}":{"isPolluted":true}}`;
      expect(await post("/v1/sessions", body)).toMatchObject(refused);
      const response = await gateway.fetch(`/v1/sessions?${name}=1`);
      expect([name, response.status]).toEqual([name, 400]);
    }
    const { error } = (await gateway.call("server.health", {})).body as { error?: unknown };
    expect(error).toBeUndefined();
  });

  test("a field given twice, in the query, or in the path and the body", async () => {
    for (const query of ["limit=1&limit=2", "q=a&q=a", "state=live&state=live"]) {
      const response = await gateway.fetch(`/v1/sessions?${query}`);
      expect([query, response.status]).toEqual([query, 400]);
    }
    const doubled = await post(
      `/v1/sessions/${target}/input`,
      `{"session_id":"${target}","data":"x"}`,
    );
    expect(doubled).toMatchObject({ ...refused, message: "session_id: given twice" });
    const both = await post("/v1/tasks?work_dir=/", '{"work_dir":"/"}');
    expect(both).toMatchObject({ ...refused, message: "work_dir: given twice" });
  });

  test("NUL bytes, halves of characters and numbers without end", async () => {
    for (const body of [
      '{"kind":"command","command":"a\\u0000b"}',
      '{"kind":"command","argv":["a\\u0000"]}',
      '{"kind":"command","command":"true","work_dir":"/\\u0000"}',
      '{"kind":"command","command":"true","env":{"A":"\\u0000"}}',
      '{"kind":"terminal","cols":1e999}',
      '{"kind":"terminal","cols":123456789012345678901234567890}',
      '{"kind":"terminal","lifetime_ms":1e300}',
      "\ufeff{",
    ])
      expect([body, await post("/v1/sessions", body)]).toMatchObject([body, refused]);
    expect(await post("/v1/sessions", Buffer.from([0x7b, 0xff, 0x7d]))).toMatchObject(refused);
    const half = '{"work_dir":"/","title":"\\ud800"}';
    const made = await post("/v1/tasks", half);
    expect([201, 400]).toContain(made.status);
    await world.checkHealth();
  });
});

async function checkAfterSocket(socket: TestSocket): Promise<void> {
  expect(await socket.ask({ type: "ping", id: "still here" })).toMatchObject({ type: "pong" });
}

/** Time enough for what comes at once, also on a busy machine. */
const openImpatient = () => openTestGateway({ host: gateway.host, patience: { requestMs: 1000 } });

test("a request that never ends is given up, its connection closed", async () => {
  await using impatient = await openImpatient();
  const { hostname, port, host } = new URL(impatient.url);
  const head = `POST /v1/sessions HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${impatient.token}\r\n`;
  for (const part of ["POST /v1/ses", head, `${head}Content-Length: 100\r\n\r\n{`]) {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    socket.write(part);
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString();
    });
    await waitFor("the end of the connection", () => socket.closed);
    expect(text).toMatch(/^HTTP\/1.1 400 .*"code":"invalid_request"/s);
  }
  expect(await impatient.get("server.health", {})).toMatchObject({ status: "ok" });
});

test("a connection that never sends anything is closed without an answer", async () => {
  await using impatient = await openImpatient();
  const { hostname, port } = new URL(impatient.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.on("data", (bytes) => {
    text += bytes.toString();
  });
  socket.on("error", () => undefined);
  await waitFor("the end of the connection", () => socket.closed);
  expect(text).toBe("");
});
