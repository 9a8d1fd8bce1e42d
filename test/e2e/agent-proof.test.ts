import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createClient } from "#client/client.ts";
import { openRemoteBackend } from "#client/runtime.ts";
import type { TranscriptMessage } from "#contract/agent/message.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { findHost } from "#host/socket/start-host.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { type GatewayProcess, openGatewayProcess } from "#test/harness/gateway-process.ts";
import { openTestHost } from "#test/harness/host.ts";
import { collect, eventsOf, inline, nextEvent, runToEnd, say } from "#test/harness/runtimes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** One team through everything that can happen to it in a day, on the real processes, with a script for a model. */

const SERVER = `
import { createServer } from "node:http";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
const server = createServer((_, answer) => answer.end(readFileSync("index.html")));
server.listen(0, "127.0.0.1", () => {
  writeFileSync("port.tmp", String(server.address().port));
  renameSync("port.tmp", "port");
});
`;

const TEAM = JSON.stringify({
  agents: {
    root: {
      model: "lead",
      description: "Builds a page.",
      instruction: "You build a page.",
      toolsets: [{ type: "filesystem" }, { type: "shell" }, { type: "todo" }],
      sub_agents: ["helper"],
    },
    helper: {
      model: "checker",
      description: "Reads files.",
      instruction: "You read files.",
      toolsets: [{ type: "filesystem", read_only: true }],
    },
  },
  permissions: {
    allow: ["write_file", "edit_file", "execute:command=sleep *"],
    ask: ["execute:command=*node *"],
  },
  models: {
    lead: {
      provider: "scripted",
      script: [
        {
          text: "I write it.",
          tool_calls: [
            { tool: "write_file", input: { path: "index.html", content: "<h1>Hello</h1>\n" } },
            { tool: "write_file", input: { path: "server.mjs", content: SERVER } },
            { tool: "todo_write", input: { todos: [{ text: "Serve it", status: "pending" }] } },
          ],
        },
        {
          expect: { tool_error: false },
          text: "I change a word.",
          tool_calls: [
            {
              tool: "edit_file",
              input: { path: "index.html", edits: [{ old: "Hello", new: "Reins" }] },
            },
          ],
        },
        {
          expect: { tool_error: false },
          text: "I serve it.",
          tool_calls: [
            {
              tool: "execute",
              input: { command: `${process.execPath} server.mjs`, run_in_background: true },
            },
          ],
        },
        {
          expect: {
            tool_error: false,
            last_user_contains: ["while you work", "Let the helper look."],
          },
          text: "The helper looks at it.",
          tool_calls: [
            { tool: "transfer_task", input: { agent: "helper", task: "What is in index.html?" } },
          ],
        },
        { expect: { last_tool_result_contains: "It says Reins." }, text: "All is well." },
        {
          text: "This takes long.",
          tool_calls: [{ tool: "execute", input: { command: "sleep 300", timeout: "5m" } }],
        },
        {
          expect: { last_user_contains: "Are you there?", tools_include: "todo_read" },
          text: "I am back.",
          tool_calls: [{ tool: "todo_read" }],
        },
        { expect: { last_tool_result_contains: "Serve it" }, text: "I remember." },
        { text: "Here again.", repeat: true },
      ],
    },
    checker: {
      provider: "scripted",
      script: [
        {
          expect: { last_user_contains: "What is in index.html?", tools_exclude: "write_file" },
          tool_calls: [{ tool: "read_file", input: { path: "index.html" } }],
        },
        { expect: { last_tool_result_contains: "<h1>Reins</h1>" }, text: "It says Reins." },
      ],
    },
  },
});

test("a team writes, serves, asks, is steered, delegates, is killed and goes on", {
  timeout: 120_000,
}, async () => {
  await using stack = new AsyncDisposableStack();
  const workDir = stack.use(openTempDir()).path;
  const host = stack.use(await openTestHost());
  const { dataDir } = host;
  const first = stack.use(await openGatewayProcess({ dataDir }));
  const made = await backendOf(first, dataDir).create({
    source: inline(TEAM),
    working_dir: workDir,
  });
  const { session_id } = made;

  await buildPage(made);
  const served = async () => {
    const port = readFileSync(join(workDir, "port"), "utf8");
    return await (await fetch(`http://127.0.0.1:${port}`)).text();
  };
  await waitFor("the page is served", () => existsSync(join(workDir, "port")));
  expect(await served()).toBe("<h1>Reins</h1>\n");

  // The worker dies in the middle of a turn; what it started goes on, and so does the session.
  const long = runToEnd(made, "Work for long.");
  await waitFor("the long command runs", async () => {
    const { transcript } = await made.snapshot();
    return transcript.at(-1)?.role === "assistant" && transcript.length === 15;
  });
  const worker = (await first.door.get("session.get", { session_id })).pid;
  process.kill(worker ?? 0, "SIGKILL");
  // Whether its reader hears of it or not: the turn has begun and has no end yet.
  await Promise.allSettled([long]);
  const cut = await collect(made.events({ follow: false }));
  expect(eventsOf(cut, "turn.ended")).toHaveLength(eventsOf(cut, "turn.started").length - 1);
  expect(await served()).toBe("<h1>Reins</h1>\n");
  expect((await runToEnd(made, "Are you there?")).at(-1)).toMatchObject({ reason: "done" });

  // The gateway dies; another one knows the same.
  await first.kill("SIGKILL");
  const second = stack.use(await openGatewayProcess({ dataDir }));
  const found = await backendOf(second, dataDir).open(session_id);
  expect((await found.snapshot()).activity).toBe("idle");

  // The host dies, and with it all that ran; the log has everything.
  process.kill(host.pid, "SIGKILL");
  await waitFor("the next host has taken over", async () => {
    const session = await second.door.call("session.get", { session_id });
    return session.status === 200 && session.body.state.kind === "lost";
  });
  expect((await runToEnd(found, "Once more.")).at(-1)).toMatchObject({ reason: "done" });
  expect((await found.transcript()).messages.map(inShort)).toEqual(EXPECTED);

  const all = await collect(found.events({ follow: false }));
  const started = eventsOf(all, "turn.started").map(({ turn_id }) => turn_id);
  expect(eventsOf(all, "turn.ended").map(({ turn_id }) => turn_id)).toEqual(started);
  expect(eventsOf(all, "turn.ended").map(({ reason }) => reason)).toEqual([
    "done",
    "interrupted",
    "done",
    "done",
  ]);
  expect(eventsOf(all, "session.resumed").map(({ life }) => life)).toEqual([2, 3]);
  await second.door.call("session.close", { session_id });
  // The second host is the gateway's, and nobody else ends it.
  await second.kill("SIGKILL");
  using next = await findHost(locateDataDir(dataDir));
  await next?.call("host.shutdown", {});
  await next?.closed;
});

/** The first turn: a command that is asked for, a word in the middle of it, a helper. */
async function buildPage(runtime: Runtime): Promise<void> {
  const running = runToEnd(runtime, "Build it.");
  const { approval_id, input } = await nextEvent(runtime, "approval.requested");
  expect(input).toMatchObject({ run_in_background: true });
  expect(await runtime.steer({ messages: say("Let the helper look.") })).toMatchObject({
    status: "queued",
  });
  await runtime.resume({ approval_id, decision: "approve" });
  const events = await running;
  expect(events.at(-1)).toMatchObject({ type: "turn.ended", reason: "done" });
  expect(eventsOf(events, "subagent.ended")).toMatchObject([
    { name: "helper", outcome: "done", text: "It says Reins." },
  ]);
}

function backendOf(gateway: GatewayProcess, dataDir: string) {
  const token = readFileSync(join(dataDir, "token"), "utf8").trim();
  return openRemoteBackend(createClient({ url: gateway.door.url, token }));
}

function inShort(message: TranscriptMessage): string {
  switch (message.role) {
    case "user":
      return `user: ${message.content.map((part) => (part.type === "text" ? part.text : "")).join("")}`;
    case "assistant":
      return [
        `${message.agent}: ${message.text}`,
        ...message.tool_calls.map(({ tool }) => tool),
      ].join(" > ");
    case "tool":
      return `${message.tool}: ${message.is_error ? "failed" : "ok"}`;
    default:
      return message.role;
  }
}

const EXPECTED = [
  "user: Build it.",
  "root: I write it. > write_file > write_file > todo_write",
  "write_file: ok",
  "write_file: ok",
  "todo_write: ok",
  "root: I change a word. > edit_file",
  "edit_file: ok",
  "root: I serve it. > execute",
  "execute: ok",
  "user: Let the helper look.",
  "root: The helper looks at it. > transfer_task",
  "transfer_task: ok",
  "root: All is well.",
  "user: Work for long.",
  "root: This takes long. > execute",
  "execute: failed",
  "user: Are you there?",
  "root: I am back. > todo_read",
  "todo_read: ok",
  "root: I remember.",
  "user: Once more.",
  "root: Here again.",
];
