import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { OperationSpec } from "#contract/operations/operation-spec.ts";
import { type ToolName, tools } from "#contract/tools/tools.ts";
import { execdRoutes } from "#http/dialects/execd-routes.ts";
import { type FuzzAnswer, type FuzzRequest, sendMany } from "#test/harness/fuzz-http.ts";
import { FuzzSource } from "#test/harness/fuzz-source.ts";
import {
  FUZZ_TIMES,
  type FuzzWorld,
  openFuzzWorld,
  sendFrames,
  TAKE_ANYTHING,
} from "#test/harness/fuzz-world.ts";
import { openExecdDoor } from "#test/harness/gateway/execd.ts";

/** Nonsense for the doors that speak other people's protocols, the same each time. */

vi.setConfig({ testTimeout: 240_000 });
let world: FuzzWorld;
beforeAll(async () => {
  world = await openFuzzWorld();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const say = ({ method, path, body }: FuzzRequest, { status, text }: FuzzAnswer) =>
  `${method} ${path} ${String(body).slice(0, 300)} → ${status} ${text.slice(0, 300)}`;
const fieldsOf = ({ input }: Pick<OperationSpec, "input">) =>
  Object.keys((input as { shape?: object }).shape ?? {});

test("requests of the execd API", async () => {
  const source = new FuzzSource(11);
  const counts = new Map<number, number>();
  const make = (): FuzzRequest => {
    const route = source.pick(execdRoutes);
    const [method = "", pattern = ""] = route.http.split(" ");
    const ids = ["ses_0000000000000001", "shl_0000000000000001", world.target];
    const path = pattern.replace(/:\w+/g, () =>
      source.once(2)
        ? source.pick(ids)
        : `x${encodeURIComponent(source.text().toWellFormed().slice(0, 60))}`,
    );
    // The header of the API: without it `/metrics` is ours.
    const headers = {
      "X-EXECD-ACCESS-TOKEN": world.gateway.token,
      "Content-Type": "application/json",
    };
    if (method !== "POST") return { method, path: `${path}${query(source)}`, headers };
    // What would be right by chance would run.
    const body = { ...source.object(fieldsOf(route)), nonsense: source.value() };
    return { method, path, headers, body: source.once(5) ? source.bytes(200) : source.json(body) };
  };
  const check = (answer: FuzzAnswer, request: FuzzRequest) => {
    const { status, text } = answer;
    counts.set(status, (counts.get(status) ?? 0) + 1);
    if (![200, 400, 404, 405, 501].includes(status)) expect(say(request, answer)).toBe("no");
    if (status === 200) return;
    const { code, message, ...rest } = JSON.parse(text) as Record<string, unknown>;
    const isShaped = typeof code === "string" && typeof message === "string" && message !== "";
    if (!isShaped || Object.keys(rest).length > 0 || code === "RUNTIME_ERROR")
      expect(say(request, answer)).toBe("a refusal");
  };
  await sendMany(world.gateway.url, FUZZ_TIMES, { make, check });
  // Not all of it ended at the first check.
  expect([...counts.keys()]).toEqual(expect.arrayContaining([200, 400, 404]));
  await world.checkAfter();
});

function query(source: FuzzSource): string {
  if (source.once(2)) return "";
  const name = source.pick(["id", "cursor", "since", "x"]);
  return `?${name}=${encodeURIComponent(source.text().toWellFormed().slice(0, 500))}`;
}

test("frames at an interactive shell of the execd API", async () => {
  const source = new FuzzSource(12);
  const execd = openExecdDoor(world.gateway);
  const id = await execd.createSession();
  const socket = await execd.attach(id);
  await socket.frame("connected");
  socket.send({ type: "stdin", data: `${TAKE_ANYTHING}\n` });
  await socket.frame("stdout", ({ data }) => String(data).includes("ready"));
  await sendFrames(socket, () => {
    const type = source.once(5) ? source.value(1) : source.pick(["stdin", "resize", "signal"]);
    const frame = source.object(["data", "signal", "cols", "rows"]);
    const whole = { ...frame, type, ...(type === "signal" ? { nonsense: 1 } : {}) };
    if (source.once(20)) return source.bytes(40);
    return source.once(6) ? source.text().slice(0, 1000) : source.json(whole);
  });
  socket.send({ type: "ping" });
  await socket.frame("pong");
  const codes = new Set(socket.all("error").map(({ code }) => code));
  expect([...codes]).toEqual(["INVALID_FRAME"]);
  await socket[Symbol.asyncDispose]();
  expect((await execd.ask("DELETE", `/session/${id}`)).status).toBe(200);
  await world.checkAfter();
});

const METHODS = [
  ...["initialize", "ping", "tools/list", "tools/call", "tools/call", "tools/call"],
  ...["notifications/initialized", "notifications/cancelled", "notifications/progress"],
  ...["resources/list", "resources/read", "prompts/get", "completion/complete", "logging/setLevel"],
  ...["sampling/createMessage", "elicitation/create", "server/discover", "subscriptions/listen"],
];
const MCP_HEADERS = ["Mcp-Session-Id", "Mcp-Protocol-Version", "Last-Event-ID", "Mcp-Method"];

/** One message, nearly right for the most part. What would be right by chance would run. */
function message(source: FuzzSource): Record<string, unknown> {
  const method = source.once(8) ? source.value(1) : source.pick(METHODS);
  const id = source.once(4) ? source.value(1) : source.int(100);
  const envelope = source.once(12) ? source.object(["jsonrpc", "id"]) : { jsonrpc: "2.0", id };
  // Every key of the table is the name of a tool.
  const name = source.once(8) ? source.text() : source.pick(Object.keys(tools) as ToolName[]);
  const spec = Object.hasOwn(tools, name) ? tools[name as ToolName] : undefined;
  const fields = spec === undefined ? [] : fieldsOf(spec);
  const call = {
    name,
    arguments: source.once(8) ? source.text() : { ...source.object(fields), nonsense: 1 },
  };
  const names = ["protocolVersion", "capabilities", "clientInfo", "requestId", "_meta", "uri"];
  const params = method === "tools/call" ? call : source.object(names);
  return { ...envelope, method, ...(source.once(10) ? {} : { params }) };
}

test("messages for MCP over HTTP", async () => {
  const source = new FuzzSource(13);
  const seen = { refused: 0, answered: 0 };
  const make = (): FuzzRequest => {
    const batch = () => Array.from({ length: source.int(4) }, () => message(source));
    const body = source.once(12) ? batch() : message(source);
    const extra = source.once(4) ? { [source.pick(MCP_HEADERS)]: source.headerText() } : {};
    return {
      method: source.once(20) ? source.pick(["GET", "DELETE", "PUT"]) : "POST",
      path: "/mcp",
      headers: {
        ...world.authorized,
        "Content-Type": source.once(20) ? source.headerText() : "application/json",
        Accept: source.once(20) ? source.headerText() : "application/json, text/event-stream",
        ...extra,
      },
      body: source.once(8) ? source.bytes(200) : source.json(body),
    };
  };
  const check = (answer: FuzzAnswer, request: FuzzRequest) => {
    const { status, text } = answer;
    // 501: a method of HTTP that MCP does not use.
    const isOurs = status >= 500 && status !== 501;
    if (status < 200 || isOurs || /internal: |-32603/.test(text))
      expect(say(request, answer)).toBe("no");
    if (status >= 400) seen.refused += 1;
    if (status === 200) seen.answered += 1;
    if (status >= 400 && !isObject(text)) expect(say(request, answer)).toBe("a refusal");
  };
  await sendMany(world.gateway.url, FUZZ_TIMES, { make, check });
  expect(Math.min(seen.refused, seen.answered)).toBeGreaterThan(FUZZ_TIMES / 20);
  await world.checkAfter();
});

function isObject(text: string): boolean {
  const value: unknown = JSON.parse(text);
  return typeof value === "object" && value !== null && "error" in value;
}
