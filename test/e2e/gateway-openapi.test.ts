import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faults } from "#contract/faults.ts";
import type { OperationSpec } from "#contract/operations/operation-spec.ts";
import { type OperationName, operations } from "#contract/operations.ts";
import { sendPlain } from "#test/harness/access-http.ts";
import { ask, createPlace, type Place } from "#test/harness/access-world.ts";
import { workerPath } from "#test/harness/agent-worker.ts";
import { inline } from "#test/harness/agents.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";

/** The document that the server gives of itself, and that its answers are what the document says. */

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
}

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: object }>>;
  };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
  readonly security?: readonly unknown[];
}

interface ApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

let gateway: TestGateway;
let document: ApiDocument;
beforeAll(async () => {
  gateway = await openTestGateway({ command: [process.execPath, workerPath] });
  document = (await (await gateway.as(undefined).fetch("/v1/openapi.json")).json()) as ApiDocument;
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

// Every key of the table is the name of an operation.
const names = Object.keys(operations) as OperationName[];
const specOf = (name: OperationName): OperationSpec => operations[name];

function describedAs(name: OperationName): Described | undefined {
  const [method = "", route = ""] = specOf(name).http.split(" ");
  return document.paths[route.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
}

test("it is a valid OpenAPI 3.1 document", async () => {
  expect(document.openapi).toMatch(/^3\.1\./);
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone({ ...document }));
  expect([valid, errors]).toEqual([true, undefined]);
});

test("it holds every operation of the table and no other", () => {
  const described = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(described.map(({ operationId }) => operationId).toSorted()).toEqual(names.toSorted());
});

describe.each(names)("%s", (name) => {
  test("declares every name in its path, its faults and whether it needs a token", () => {
    const spec = specOf(name);
    const described = describedAs(name);
    expect(described).toMatchObject({ operationId: name, summary: spec.summary });
    const inPath = [...spec.http.matchAll(/:(\w+)/g)].map(([, field]) => field);
    const declared = (described?.parameters ?? []).filter((parameter) => parameter.in === "path");
    expect(declared.map((parameter) => parameter.name)).toEqual(inPath);
    expect(declared.every(({ required }) => required)).toBe(true);
    expect(described?.security).toEqual(spec.role === "anyone" ? [] : undefined);
    for (const code of spec.faults)
      expect(described?.responses[faults[code].status]?.description).toContain(code);
    expect(described?.responses[401]?.description).toContain("unauthenticated");
  });

  test("declares every field of its input once, where it is taken from", () => {
    const shape = (specOf(name).input as { readonly shape?: object }).shape ?? {};
    const described = describedAs(name);
    const body = described?.requestBody?.content["application/json"]?.schema as
      | { readonly properties: object }
      | undefined;
    const declared = [
      ...(described?.parameters ?? []).map((parameter) => parameter.name),
      ...Object.keys(body?.properties ?? {}),
    ];
    expect(declared.toSorted()).toEqual(Object.keys(shape).toSorted());
  });
});

/** One real call of each operation that answers with JSON; a new one fails here until it has its own. */
const calls: Partial<Record<OperationName, (place: Place) => Readonly<Record<string, unknown>>>> = {
  "session.create": ({ workspace_id }) => ({ kind: "command", command: "true", workspace_id }),
  "session.list": () => ({}),
  "session.get": ({ session_id }) => ({ session_id }),
  "session.glances": ({ session_id }) => ({ session_ids: [session_id] }),
  "session.update": ({ session_id }) => ({ session_id, title: "t" }),
  "session.input": ({ session_id }) => ({ session_id, data: "x" }),
  "session.resize": ({ session_id }) => ({ session_id, cols: 90, rows: 20 }),
  "session.signal": ({ session_id }) => ({ session_id, signal: "SIGCONT" }),
  "session.interrupt": ({ session_id }) => ({ session_id }),
  "session.screen": ({ session_id }) => ({ session_id }),
  "session.wait": ({ session_id }) => ({ session_id, for: "exit", timeout_ms: 0 }),
  "session.close": ({ session_id }) => ({ session_id, reason: "enough" }),
  "shell.create": ({ workspace_id }) => ({ work_dir: "/", workspace_id }),
  "shell.list": () => ({}),
  "shell.get": ({ shell_id }) => ({ shell_id }),
  "shell.close": ({ shell_id }) => ({ shell_id }),
  "process.execute": () => ({ command: "sleep 0.1 & exit 3", workdir: "/", timeout: "20s" }),
  "process.list": () => ({}),
  "process.output": ({ session_id }) => ({ process_id: session_id }),
  "process.wait": ({ session_id }) => ({ process_id: session_id, timeout: 0 }),
  "process.signal": ({ session_id }) => ({ process_id: session_id, signal: "interrupt" }),
  "process.input": ({ session_id }) => ({ process_id: session_id, text: "x" }),
  "team.load": () => ({ source: inline }),
  "team.list": () => ({}),
  "agent.create": () => ({ source: inline }),
  "workspace.create": () => ({ name: "n" }),
  "workspace.list": () => ({}),
  "workspace.get": ({ workspace_id }) => ({ workspace_id }),
  "workspace.update": ({ workspace_id }) => ({ workspace_id, name: "n" }),
  "workspace.delete": () => ({}),
  "task.create": ({ workspace_id }) => ({ work_dir: "/", workspace_id, issue_id: "i" }),
  "task.list": () => ({}),
  "task.get": ({ task_id }) => ({ task_id }),
  "task.update": ({ task_id }) => ({ task_id, issue_id: null }),
  "task.delete": ({ task_id }) => ({ task_id }),
  "directory.list": () => ({ path: "/" }),
  "caller.get": () => ({}),
  "caller.logout": () => ({}),
  "token.create": () => ({ user_id: "u", role: "viewer" }),
  "token.list": () => ({}),
  "token.revoke": ({ token_id }) => ({ token_id }),
  "ticket.create": () => ({}),
  "ticket.exchange": () => ({}),
  "audit.list": () => ({}),
  "server.health": () => ({}),
  "server.limits": () => ({}),
  "server.openapi": () => ({}),
};

const messages = [{ content: "hello" }];
/** What an agent is asked, besides which one it is. */
const agentCalls: Partial<Record<OperationName, Readonly<Record<string, unknown>>>> = {
  "agent.send": { messages },
  "agent.steer": { messages },
  "agent.followup": { messages },
  "agent.resume": { approval_id: "a", decision: "approve" },
  "agent.elicitation": { elicitation_id: "e", action: "cancel" },
  "agent.summarize": {},
  "agent.fork": { at: 0 },
  "agent.switch": { name: "root" },
  "agent.model": { model: "" },
  "agent.permit": { safety: "strict" },
  "agent.snapshot": {},
  "agent.transcript": {},
  "agent.queue": {},
  "agent.permissions": {},
  "agent.team": {},
  "agent.tools": {},
  "agent.toolsets": {},
  "agent.restart_toolset": { name: "t" },
  "agent.models": {},
  "agent.prompts": {},
  "agent.prompt": { name: "p" },
  "agent.skills": {},
};

/** These end what they name, so each has a place of its own. */
const endings: readonly OperationName[] = [
  "session.close",
  "session.interrupt",
  "shell.close",
  "process.signal",
  "task.delete",
  "token.revoke",
];

let shared: Promise<Place> | undefined;
let agentId: Promise<string> | undefined;

/** One agent for all calls, with a turn behind it. */
async function createAgent(): Promise<string> {
  const { session_id } = await gateway.get("agent.create", { source: inline });
  const body = JSON.stringify({ session_id, messages });
  const run = await gateway.fetch("/v1/session/run", { method: "POST", body });
  await run.text();
  return session_id;
}

/** What needs something that a call before it made. */
async function inputOf(name: OperationName): Promise<Readonly<Record<string, unknown>>> {
  if (name === "ticket.exchange")
    return { ticket: (await gateway.get("ticket.create", {})).ticket };
  if (name === "workspace.delete") {
    const { workspace_id } = await gateway.get("workspace.create", { name: "short-lived" });
    return { workspace_id };
  }
  const asked = agentCalls[name];
  if (asked !== undefined) {
    agentId ??= createAgent();
    return { session_id: await agentId, ...asked };
  }
  const call = calls[name];
  if (call === undefined) throw new Error(`${name} has no call in this test`);
  if (endings.includes(name)) return call(await createPlace(gateway));
  shared ??= createPlace(gateway);
  return call(await shared);
}

test.each(names.filter((name) => specOf(name).answers === "json"))(
  "an answer of %s is what its schema says, and no more",
  async (name) => {
    const { status, text } = await ask(gateway, name, await inputOf(name));
    expect([status, text]).toEqual([specOf(name).status ?? 200, text]);
    const parsed = specOf(name).output.safeParse(JSON.parse(text));
    expect(parsed.error?.issues).toBeUndefined();
    expect(parsed.data).toEqual(JSON.parse(text));
  },
);

test("events are what their schema says", async () => {
  const { session_id } = await gateway.get("session.create", { kind: "command", command: "true" });
  await gateway.get("session.wait", { session_id, for: "exit", timeout_ms: 10_000 });
  const said = await ask(gateway, "session.events", { session_id, follow: false });
  const events = [...said.text.matchAll(/^data: (.*)$/gm)].map(([, line]) =>
    JSON.parse(line ?? ""),
  );
  expect(events.length).toBeGreaterThan(1);
  for (const event of events)
    expect(operations["session.events"].output.safeParse(event).error?.issues).toBeUndefined();
});

test("a JSON answer comes compressed to a client that takes it, and output as it is", async () => {
  const encodingOf = async (path: string, encoding: string) => {
    const answer = await sendPlain(gateway.url, {
      path,
      headers: { Authorization: `Bearer ${gateway.token}`, "Accept-Encoding": encoding },
    });
    return answer.headers["content-encoding"];
  };
  expect(await encodingOf("/v1/openapi.json", "gzip, br")).toBe("br");
  expect(await encodingOf("/v1/openapi.json", "gzip")).toBe("gzip");
  expect(await encodingOf("/v1/openapi.json", "identity")).toBeUndefined();
  const { session_id } = await gateway.get("session.create", {
    kind: "command",
    command: "seq 9999",
  });
  await gateway.get("session.wait", { session_id, for: "exit", timeout_ms: 10_000 });
  expect(await encodingOf(`/v1/sessions/${session_id}/output`, "gzip, br")).toBeUndefined();
  expect(await encodingOf("/v1/nothing", "gzip, br")).toBeUndefined();
});
