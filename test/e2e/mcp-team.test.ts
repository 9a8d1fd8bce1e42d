import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CallToolResult,
  Client,
  type ElicitRequest,
  type ElicitResult,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { defined } from "#contract/values/defined.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { type Era, textOf } from "#test/harness/mcp.ts";
import { binPath } from "#test/harness/packaged.ts";
import { openReins, type Reins } from "#test/harness/reins.ts";
import { rows } from "#test/harness/repeats.ts";

const TEAM = JSON.stringify({
  agents: {
    root: {
      model: "main",
      description: "Leads.",
      toolsets: [{ type: "filesystem" }, { type: "user_prompt" }],
      handoffs: ["other"],
    },
    other: { model: "scripted/echo", description: "Repeats." },
    reader: {
      model: "scripted/echo",
      description: "Reads.",
      toolsets: [{ type: "filesystem", read_only: true }],
    },
    boss: { model: "scripted/echo", sub_agents: ["root"] },
  },
  models: {
    main: {
      provider: "scripted",
      script: [
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
        {
          when: { last_user_contains: "ask me", last_tool_result_contains: "blue" },
          text: "So it is blue.",
        },
        { when: { last_user_contains: "ask me", last_role: "tool" }, text: "No colour then." },
        { when: { last_user_contains: "for ever" }, delay_ms: 600_000, text: "Never said." },
        { when: { last_user_contains: "fail" }, error: { cause: "refused", message: "I refuse." } },
        { text: "First." },
        { text: "Second." },
        { text: "Later.", repeat: true },
      ],
    },
  },
});

type Answer = (request: ElicitRequest["params"]) => ElicitResult;

interface Setting {
  readonly era?: Era;
  readonly args?: readonly string[];
  /** Present: the client brings questions to somebody. */
  readonly answer?: Answer;
}

interface TeamClient extends AsyncDisposable {
  readonly client: Client;
  call(name: string, input: Record<string, unknown>): Promise<CallToolResult>;
}

async function openTeam(reins: Reins, setting: Setting = {}): Promise<TeamClient> {
  const { era = "legacy", args = [], answer } = setting;
  writeFileSync(join(reins.path, "team.yaml"), TEAM);
  const env = Object.entries(reins.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const mode = era === "legacy" ? "legacy" : { pin: "2026-07-28" };
  const client = new Client(
    { name: "test-client", version: "1" },
    {
      versionNegotiation: { mode },
      ...(answer === undefined ? {} : { capabilities: { elicitation: { form: {} } } }),
    },
  );
  if (answer !== undefined)
    client.setRequestHandler("elicitation/create", async ({ params }) => answer(params));
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [binPath, "serve", "mcp", "team.yaml", ...args],
      env: Object.fromEntries(env),
      cwd: reins.path,
      stderr: "ignore",
    }),
  );
  // So that it checks every answer against the schema of its tool.
  await client.listTools();
  return {
    client,
    call: (name, input) => client.callTool({ name, arguments: input }),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** The session of an answer. */
function sessionOf({ structuredContent }: CallToolResult): string {
  // Checked by the client against the schema of the tool.
  return (structuredContent as { readonly session_id: string }).session_id;
}

test("each agent is a tool, read-only when nothing that it reaches can change anything", async () => {
  await using alone = await openReins();
  await using listed = await openTeam(alone);
  const { tools } = await listed.client.listTools();
  expect(
    tools.map(({ name, description, annotations }) => [
      name,
      description,
      annotations?.readOnlyHint,
    ]),
  ).toEqual([
    ["root", "Leads.", false],
    ["other", "Repeats.", true],
    ["reader", "Reads.", true],
    ["boss", "The agent boss.", false],
  ]);
  expect(tools[0]?.inputSchema).toMatchObject({
    required: ["message"],
    properties: { message: { type: "string" }, session_id: { type: "string" } },
  });
  // To be listed takes no host.
  expect(existsSync(join(alone.home, "host.lock"))).toBe(false);
});

/** One for all that follows; each test has sessions of its own. */
let reins: Reins;
/** A client that asks nobody. */
let team: TeamClient;
beforeAll(async () => {
  reins = await openReins();
  team = await openTeam(reins);
});
afterAll(async () => {
  await team[Symbol.asyncDispose]();
  await reins[Symbol.asyncDispose]();
});

function forgetNote(): string {
  const note = join(reins.path, "note.txt");
  rmSync(note, { force: true });
  return note;
}

test("a call is a turn of a real session, and its id goes on with it", async () => {
  const first = await team.call("root", { message: "Hello." });
  const session_id = sessionOf(first);
  expect(first.structuredContent).toEqual({ session_id, response: "First.", reason: "done" });
  expect(textOf(first)).toBe("First.");
  const second = await team.call("root", { message: "And?", session_id });
  expect(second.structuredContent).toEqual({ session_id, response: "Second.", reason: "done" });
  const listed = (await reins.sessions()).map((session) => [session.kind, session.session_id]);
  expect(listed).toEqual([["agent", session_id]]);
  // A file that is changed meanwhile does not change what is served.
  writeFileSync(join(reins.path, "team.yaml"), "agents: 1\n");
  const fresh = await team.call("root", { message: "Hello." });
  expect(fresh.structuredContent).toMatchObject({ response: "First." });
});

test("a session is continued by the tool of its agent, or of one who may hand over to it", async () => {
  const other = sessionOf(await team.call("other", { message: "Hello." }));
  const root = sessionOf(await team.call("root", { message: "Hello." }));
  const byRoot = await team.call("root", { message: "Say it.", session_id: other });
  expect(byRoot.structuredContent).toMatchObject({ session_id: other, reason: "done" });
  for (const [tool, session_id] of [
    ["reader", root],
    ["other", root],
  ] as const) {
    const refused = await team.call(tool, { message: "Hello.", session_id });
    expect([refused.isError, textOf(refused)]).toEqual([
      true,
      `invalid_request: session_id: this is no conversation with ${tool}`,
    ]);
  }
  writeFileSync(join(reins.path, "else.yaml"), "agents: { root: { model: scripted/echo } }\n");
  await reins.run(["run", "else.yaml", "--exec", "hi"]);
  const foreign = (await reins.sessions()).find(
    ({ session_id }) => ![root, other].includes(session_id),
  );
  const refused = await team.call("root", { message: "x", session_id: foreign?.session_id });
  expect(textOf(refused)).toContain("no conversation with root");
});

test("what is wrong is a result with the fault's code", async () => {
  const failed = await team.call("root", { message: "Please fail." });
  expect(failed.isError).toBe(true);
  expect(textOf(failed)).toContain("model_failed: ");
  // The session is named, so that one may go on.
  expect(failed._meta?.["reins/fault"]).toMatchObject({
    code: "model_failed",
    details: { session_id: expect.stringMatching(/^ses_/) },
  });
  for (const [input, code] of [
    [{ message: " " }, "invalid_request"],
    [{}, "invalid_request"],
    [{ message: "x", session_id: "nothing" }, "invalid_request"],
    [{ message: "x", session_id: "ses_0000000000000000" }, "session_not_found"],
  ] as const) {
    const refused = await team.call("root", input);
    expect([refused.isError, textOf(refused).split(":")[0]]).toEqual([true, code]);
  }
});

test("a client that asks nobody has what would be asked refused", async () => {
  const note = forgetNote();
  const refused = await team.call("root", { message: "write" });
  expect(refused.structuredContent).toMatchObject({ response: "It was refused.", reason: "done" });
  const session_id = sessionOf(refused);
  const asked = await team.call("root", { message: "ask me", session_id });
  expect(asked.structuredContent).toMatchObject({ response: "No colour then." });
  expect(existsSync(note)).toBe(false);
});

test("a client that asks nobody does not leave a session waiting that could be asked", async () => {
  let session_id = "";
  {
    await using asking = await openTeam(reins, { answer: () => ({ action: "decline" }) });
    session_id = sessionOf(await asking.call("root", { message: "Hello." }));
  }
  const refused = await team.call("root", { message: "write", session_id });
  expect(refused.structuredContent).toMatchObject({ response: "It was refused.", reason: "done" });
});

for (const era of rows<Era>({ few: ["modern"], full: ["legacy", "modern"] })) {
  test(`approvals and questions become elicitations (${era})`, async () => {
    const asked: ElicitRequest["params"][] = [];
    const answers: ElicitResult[] = [
      { action: "accept", content: { decision: "reject", reason: "not now" } },
      { action: "decline" },
      { action: "accept", content: { decision: "approve" } },
      { action: "accept", content: { answer: "blue" } },
      { action: "decline" },
    ];
    const answer: Answer = (params) => {
      asked.push(params);
      return answers.shift() ?? { action: "cancel" };
    };
    await using asking = await openTeam(reins, { era, answer });
    let session_id: string | undefined;
    const say = async (message: string) => {
      const said = await asking.call("root", { message, ...defined({ session_id }) });
      session_id = sessionOf(said);
      return said.structuredContent;
    };
    const note = forgetNote();
    for (const _no of ["rejected", "declined"])
      expect(await say("write")).toMatchObject({ response: "It was refused." });
    expect(existsSync(note)).toBe(false);
    expect(await say("write")).toMatchObject({ response: "It is written.", reason: "done" });
    expect(existsSync(note)).toBe(true);
    expect(await say("ask me")).toMatchObject({ response: "So it is blue." });
    expect(await say("ask me")).toMatchObject({ response: "No colour then." });
    expect(asked.map(({ message }) => message.split("\n")[0])).toEqual([
      ...Array(3).fill('root wants to call write_file {"path":"note.txt","content":"noted\\n"}'),
      "Which colour?",
      "Which colour?",
    ]);
    expect(asked[3]).toMatchObject({ requestedSchema: { properties: { answer: {} } } });
  });
}

test("cancelling a call interrupts its turn and keeps its session", async () => {
  const session_id = sessionOf(await team.call("root", { message: "Hello." }));
  const cancelling = new AbortController();
  const waiting = team.client.callTool(
    { name: "root", arguments: { message: "Think for ever.", session_id } },
    { signal: cancelling.signal },
  );
  await waitFor("the turn runs", () => eventsOf(reins, session_id).includes("Think for ever."));
  const busy = await team.call("root", { message: "Me too.", session_id });
  expect(textOf(busy)).toMatch(/^busy: /);
  cancelling.abort();
  await expect(waiting).rejects.toThrow();
  await waitFor("the turn ends", () => eventsOf(reins, session_id).includes('"interrupted"'));
  const next = await team.call("root", { message: "And now?", session_id });
  expect(next.structuredContent).toMatchObject({ session_id, reason: "done" });
});

test("cancelling a call that waits for an answer interrupts it too", async () => {
  const note = forgetNote();
  const cancelling = new AbortController();
  await using asking = await openTeam(reins, {
    answer: () => {
      cancelling.abort();
      return { action: "cancel" };
    },
  });
  const waiting = asking.client.callTool(
    { name: "root", arguments: { message: "write" } },
    { signal: cancelling.signal },
  );
  await expect(waiting).rejects.toThrow();
  const [session] = await reins.sessions();
  const id = session?.session_id ?? "";
  await waitFor("the turn ends", () => eventsOf(reins, id).includes('"type":"turn.ended"'));
  expect(existsSync(note)).toBe(false);
});

test("a client that goes away leaves its turn running", async () => {
  let waiting: Promise<unknown> | undefined;
  let session_id = "";
  {
    await using leaving = await openTeam(reins);
    session_id = sessionOf(await leaving.call("root", { message: "Hello." }));
    waiting = leaving
      .call("root", { message: "Think for ever.", session_id })
      .catch((error: unknown) => error);
    await waitFor("the turn runs", () => eventsOf(reins, session_id).includes("Think for ever."));
  }
  await waiting;
  const busy = await team.call("root", { message: "Still there?", session_id });
  expect(textOf(busy)).toMatch(/^busy: /);
});

test("who asks for progress hears which tools are called", async () => {
  // The client forgets who wants progress when the answer comes in the same read, so what arrives is looked at here.
  const arrived: unknown[] = [];
  const { transport } = team.client;
  const { onmessage } = transport ?? {};
  if (transport === undefined || onmessage === undefined) throw new Error("it is not connected");
  transport.onmessage = (message, extra) => {
    arrived.push(message);
    onmessage(message, extra);
  };
  await team.client.callTool(
    { name: "root", arguments: { message: "write" } },
    { onprogress: () => undefined },
  );
  transport.onmessage = onmessage;
  const heard = arrived.flatMap((message) => Progress.safeParse(message).data?.params ?? []);
  expect(heard.map(({ message }) => message)).toContain("root: write_file");
  const numbers = heard.map(({ progress }) => progress);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => one - other));
});

const Progress = z.object({
  method: z.literal("notifications/progress"),
  params: z.object({ progress: z.number(), message: z.string().optional() }),
});

test("some agents can be chosen, and what contradicts is refused", async () => {
  await using chosen = await openTeam(reins, { args: ["--agent", "reader", "--agent", "root"] });
  const { tools } = await chosen.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["root", "reader"]);
  for (const [args, sentence] of [
    [["team.yaml", "--agent", "nobody"], 'no agent "nobody"; it has root, other, reader, boss'],
    [["team.yaml", "--owner", "me"], "--owner is for the tools of Reins"],
    [["--agent", "root"], "--agent is for a team"],
    [["team.yaml", "more.yaml"], "more.yaml"],
  ] as const) {
    const { code, stdout, stderr } = await reins.run(["serve", "mcp", ...args]);
    expect([args, code, stdout]).toEqual([args, 2, ""]);
    expect(stderr).toContain(sentence);
  }
  const missing = await reins.run(["serve", "mcp", "none.yaml"]);
  expect(missing).toMatchObject({ code: 3, stdout: "" });
});

function eventsOf(reins: Reins, sessionId: string): string {
  return readFileSync(
    join(reins.home, "sessions", sessionId, "events", "0000000000000000"),
    "utf8",
  );
}
