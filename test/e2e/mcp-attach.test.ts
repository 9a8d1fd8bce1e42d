import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CallToolResult, Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { type Era, textOf } from "#test/harness/mcp.ts";
import { binPath } from "#test/harness/packaged.ts";
import { type Reins, succeed } from "#test/harness/reins.ts";
import { scripted } from "#test/harness/runtimes.ts";

const { lease } = keepReins();

const STEPS = [
  {
    when: { last_user_contains: "write", last_role: "user" },
    tool_calls: [{ tool: "write_file", input: { path: "note.txt", content: "noted\n" } }],
  },
  { when: { last_user_contains: "write", tool_error: true }, text: "It was refused." },
  { when: { last_user_contains: "write", last_role: "tool" }, text: "It is written." },
  {
    when: { last_user_contains: "ask me", last_role: "user" },
    tool_calls: [{ tool: "user_prompt", input: { message: "Which colour?" } }],
  },
  { when: { last_user_contains: "ask me", last_tool_result_contains: "blue" }, text: "Blue then." },
  { when: { last_user_contains: "for ever" }, delay_ms: 600_000, text: "Never said." },
  { when: { last_user_contains: "long" }, text: "x".repeat(200_000), repeat: true },
  { text: "First." },
  { text: "Later.", repeat: true },
];

async function startAgent(reins: Reins): Promise<string> {
  const toolsets = [{ type: "filesystem" }, { type: "user_prompt" }];
  writeFileSync(join(reins.path, "team.yaml"), scripted(STEPS, { toolsets }));
  const started = await reins.run(["run", "team.yaml", "Hello."]);
  expect(succeed(started)).toBe("First.\n");
  return /session (ses_\w{16});/.exec(started.stderr)?.[1] ?? "";
}

type Answer = Readonly<Record<string, unknown>>;

interface Attached extends AsyncDisposable {
  readonly client: Client;
  /** What the tool answers, checked against its schema; a refusal is thrown. */
  call(name: string, input?: Answer): Promise<Answer>;
  refused(name: string, input: Answer): Promise<string>;
  /** Waits for an event and gives it. */
  event(type: string): Promise<Answer>;
}

async function attach(
  reins: Reins,
  args: readonly string[] = ["--attach"],
  era: Era = "legacy",
): Promise<Attached> {
  const env = Object.entries(reins.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const mode = era === "legacy" ? "legacy" : { pin: "2026-07-28" };
  const client = new Client(
    { name: "test-client", version: "1" },
    { versionNegotiation: { mode } },
  );
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [binPath, "serve", "mcp", ...args],
      env: Object.fromEntries(env),
      cwd: reins.path,
      stderr: "ignore",
    }),
  );
  // So that it checks every answer against the schema of its tool.
  await client.listTools();
  const ask = (name: string, input: Answer): Promise<CallToolResult> =>
    client.callTool({ name, arguments: { ...input } });
  const call: Attached["call"] = async (name, input = {}) => {
    const result = await ask(name, input);
    if (result.isError === true) throw new Error(textOf(result));
    expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
    return result.structuredContent as Answer;
  };
  return {
    client,
    call,
    refused: async (name, input) => {
      const result = await ask(name, input);
      expect(result.isError).toBe(true);
      return textOf(result);
    },
    event: (type) =>
      waitFor(`the event ${type}`, async () => {
        const { events } = await call("events_since", { since: 0, limit: 1000 });
        return (events as Answer[]).find((event) => event.type === type);
      }),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

interface Scene {
  readonly reins: Reins;
  readonly session_id: string;
  readonly run: Attached;
}

/** One agent and one server for the tests of what it can be asked. They go on where the last one stopped. */
let scene: Promise<Scene & AsyncDisposable> | undefined;
function share(): Promise<Scene> {
  scene ??= openScene();
  return scene;
}
afterAll(async () => await (await scene)?.[Symbol.asyncDispose]());

async function openScene(): Promise<Scene & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const reins = stack.use(await lease());
  const session_id = await startAgent(reins);
  // Not named: it is the newest.
  const run = stack.use(await attach(reins));
  const owned = stack.move();
  return { reins, session_id, run, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test("--attach excludes a team and an owner, and wants a run", async () => {
  await using reins = await lease();
  const exits: [code: number, said: string, args: string[]][] = [
    [2, "no team", ["--attach", "team.yaml"]],
    [2, "no team", ["team.yaml", "--attach=ses_4k2m"]],
    [2, "--owner", ["--attach", "--owner", "me"]],
    [2, "--agent", ["--attach", "--agent", "root"]],
    [2, "--data-dir", ["--attach", "--data-dir", reins.home]],
    [2, "--remote", ["--remote", "http://127.0.0.1:1"]],
    [8, "reins run", ["--attach"]],
    [8, "reins ps", ["--attach=nobody"]],
  ];
  for (const [code, said, args] of exits) {
    const result = await reins.run(["serve", "mcp", ...args]);
    expect([args, result.code]).toEqual([args, code]);
    expect(result.stderr).toContain(said);
    expect(result.stdout).toBe("");
  }
});

test("each tool has its annotations and both schemas", async () => {
  const { run, session_id } = await share();
  const { tools } = await run.client.listTools();
  const flags = tools.map(({ name, annotations: a }) => [
    name,
    [a?.readOnlyHint, a?.destructiveHint, a?.idempotentHint, a?.openWorldHint],
  ]);
  const acts = [false, true, false, true];
  const reads = [true, false, true, false];
  expect(Object.fromEntries(flags)).toEqual({
    ...{ send: acts, approve: acts, answer: acts, interrupt: [false, true, false, false] },
    ...{ transcript: reads, events_since: reads },
  });
  for (const { inputSchema, outputSchema, description } of tools) {
    expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    expect(outputSchema).toMatchObject({ type: "object" });
    expect(description).toMatch(/\.$/);
  }
  expect(run.client.getInstructions()).toContain(session_id);
});

test("what is wrong is refused with a code, and nothing happens", async () => {
  const { run } = await share();
  const before = await run.call("events_since", { since: "tail" });
  const wrong: [tool: string, input: Answer, said: string][] = [
    ["send", {}, "invalid_request: message: "],
    ["send", { message: " " }, "invalid_request: message: the message is empty"],
    ["send", { message: "x", followup: true, framing: "plain" }, "invalid_request: framing: "],
    ["send", { message: "x", framing: "loud" }, "invalid_request: framing: "],
    ["transcript", { limit: 0 }, "invalid_request: limit: "],
    ["events_since", {}, "invalid_request: since: "],
    ["events_since", { since: 3 }, "offset_out_of_range: "],
    ["approve", {}, "invalid_request: decision: "],
    ["approve", { decision: "approve" }, "nothing_pending: "],
    ["approve", { decision: "reject", approval_id: "apr_none" }, "nothing_pending: "],
    ["answer", { content: {} }, "nothing_pending: "],
    ["interrupt", { really: true }, "invalid_request: "],
  ];
  for (const [tool, input, said] of wrong) expect(await run.refused(tool, input)).toContain(said);
  const since = await run.call("events_since", { since: before.next });
  expect(since).toMatchObject({ events: [], more: false });
});

test("events come in pages that follow each other, each event once", async () => {
  const { run } = await share();
  const all = (await run.call("events_since", { since: 0, limit: 1000 })).events as Answer[];
  const paged: Answer[] = [];
  for (let since: unknown = 0, more: unknown = true; more === true; ) {
    const page = await run.call("events_since", { since, limit: 2 });
    paged.push(...(page.events as Answer[]));
    ({ next: since, more } = page);
  }
  expect(paged).toEqual(all);
  expect(all.length).toBeGreaterThan(5);
  const tail = await run.call("events_since", { since: "tail" });
  expect(tail).toMatchObject({ events: [], more: false });
  await run.call("send", { message: "Go on." });
  const isTold = ({ type }: Answer) => type === "turn.ended";
  const fresh = await waitFor("the turn ends", async () => {
    const { events } = await run.call("events_since", { since: tail.next });
    return (events as Answer[]).some(isTold) && (events as Answer[]);
  });
  expect(fresh[0]).toMatchObject({ type: "turn.started" });
});

test("behind a server it is the same, and goes on when that was killed and is back", async () => {
  const { reins, run: near } = await share();
  const { total: before } = (await near.call("transcript", { limit: 1 })) as { total: number };
  await using gateway = await openGatewayProcess({ dataDir: reins.home });
  const { port } = gateway;
  await using run = await attach(reins, ["--attach", "--remote", `http://127.0.0.1:${port}`]);
  expect(await run.call("send", { message: "Go on." })).toMatchObject({ status: "started" });
  await gateway.kill("SIGKILL");
  expect(await run.refused("interrupt", {})).toContain("host_unavailable: ");
  await using _again = await openGatewayProcess({ dataDir: reins.home, port });
  const said = await waitFor("the turn has ended", async () => {
    const { messages, total } = await run.call("transcript", { limit: 1 });
    return total === before + 2 && (messages as Answer[])[0]?.text;
  });
  expect(said).toBe("Later.");
});

test("a client drives the run: it speaks, reads, approves, answers, steers and interrupts", async () => {
  const { reins, run } = await share();
  expect(await run.call("send", { message: "write" })).toMatchObject({ status: "started" });
  const { approval_id } = await run.event("approval.requested");
  const approved = await run.call("approve", { decision: "approve" });
  expect(approved).toEqual({ approval_id, decision: "approve" });
  await waitFor("it is written", () => existsSync(join(reins.path, "note.txt")));
  expect(readFileSync(join(reins.path, "note.txt"), "utf8")).toBe("noted\n");
  // Waits for the end of the turn, so it is the next one.
  await run.call("send", { message: "ask me", followup: true });
  const { elicitation_id } = await run.event("elicitation.requested");
  const { schema } = await run.event("elicitation.requested");
  const [field = ""] = Object.keys((schema as { properties: object }).properties);
  const answered = await run.call("answer", { content: { [field]: "blue" } });
  expect(answered).toEqual({ elicitation_id, action: "accept" });
  const last = await waitFor("it has heard", async () => {
    const { messages, ...rest } = await run.call("transcript", { limit: 1 });
    const [message] = messages as Answer[];
    return message?.text === "Blue then." && rest;
  });
  expect(last).toMatchObject({ title: "Hello." });
  await run.call("send", { message: "for ever", followup: true });
  await waitFor("it works", async () => {
    const { messages } = await run.call("transcript", { limit: 1 });
    return JSON.stringify(messages).includes("for ever");
  });
  const steered = await run.call("send", { message: "Hurry.", framing: "replacement" });
  expect(steered).toMatchObject({ status: "queued" });
  expect(await run.call("interrupt")).toEqual({ interrupted: true });
  await waitFor("it is idle", async () => !(await run.call("interrupt")).interrupted);
});

test("an answer stays small enough to read, and goes on where it was cut", async () => {
  const { run } = await share();
  for (const text of ["long one", "long two"]) {
    await run.call("send", { message: text, followup: true });
    await waitFor("it is idle", async () => {
      const { messages } = await run.call("transcript", { limit: 1 });
      return (messages as Answer[])[0]?.role === "assistant";
    });
  }
  const newest = await run.call("transcript");
  const total = Number(newest.total);
  expect(newest.position).toBe(total - 2);
  expect(newest.messages).toHaveLength(2);
  const older = await run.call("transcript", { from: total - 6 });
  expect(older.position).toBe(total - 6);
  expect((older.messages as Answer[]).length).toBe(5);
  const page = await run.call("events_since", { since: 0, limit: 1000 });
  expect(page.more).toBe(true);
  expect(JSON.stringify(page).length).toBeLessThan(300_000);
});

test("a terminal has the tools that make sense for one, and is the newest run if none is named", async () => {
  const { reins } = await share();
  const terminal = await reins.detach([
    "--tty",
    "--",
    "sh",
    "-c",
    "read l; echo got:$l; sleep 600",
  ]);
  await using newest = await attach(reins);
  await using typed = await attach(reins, [`--attach=${terminal}`], "modern");
  expect((await typed.client.listTools()).tools.map(({ name }) => name)).toEqual([
    ...["send", "events_since", "interrupt"],
  ]);
  expect(await typed.call("send", { message: "hello" })).toEqual({ status: "typed" });
  await waitFor("it was typed", async () =>
    succeed(await reins.run(["logs", terminal])).includes("got:hello"),
  );
  expect(await typed.refused("send", { message: "x", followup: true })).toContain("unsupported: ");
  expect(newest.client.getInstructions()).toContain(terminal);
});
