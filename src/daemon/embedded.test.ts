import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { eventsOf, inline, runToEnd, scripted } from "#test/harness/runtimes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { openEmbedded } from "./embedded.ts";

const leaseHost = leaseForFile(() => openTestHost());

const calls = (tool: string, input: object) => [
  { tool_calls: [{ tool, input }] },
  { text: "Done.", repeat: true },
];
const shell = { toolsets: [{ type: "shell" }] };
const autonomous = { safety: "autonomous" as const };

test("an embedded agent answers without a host and without a file", async () => {
  using dir = openTempDir();
  const data_dir = join(dir.path, "data");
  await using backend = openEmbedded({ work_dir: dir.path, data_dir });
  await using runtime = await backend.create({ source: inline(scripted([{ text: "Hello." }])) });
  const events = await runToEnd(runtime, "Hi.");
  expect(eventsOf(events, "message.end")[0]?.text).toBe("Hello.");
  expect(readdirSync(dir.path)).toEqual([]);
});

test("an agent that the team does not have is refused by name", async () => {
  using dir = openTempDir();
  await using backend = openEmbedded({ work_dir: dir.path, data_dir: join(dir.path, "data") });
  const source = inline(scripted([{ text: "Hello." }]));
  await expect(backend.create({ source, agent_name: "nobody" })).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining('agent_name: the team has no agent "nobody"'),
  });
});

test("a command of an agent without a host is answered with why there is none", async () => {
  using dir = openTempDir();
  await using backend = openEmbedded({ work_dir: dir.path, data_dir: join(dir.path, "data") });
  const source = inline(scripted(calls("execute", { command: "echo here" }), shell));
  await using runtime = await backend.create({ source, ...autonomous });
  const [result] = eventsOf(await runToEnd(runtime, "Run it."), "tool.result");
  expect(result).toMatchObject({ is_error: true });
  expect(result?.output).toContain('open it with tools: "host"');
});

test("commands run on the host of the data directory, without the keys", async () => {
  await using host = await leaseHost();
  using dir = openTempDir();
  const key = "a-key-that-nobody-may-see";
  await using backend = openEmbedded({
    work_dir: dir.path,
    data_dir: host.dataDir,
    tools: "host",
    keys: { SOME_KEY: key },
    env: { PATH: "/usr/bin:/bin", SOME_KEY: key, ALSO: `x ${key}`, PLAIN: "plain" },
  });
  const command = 'pwd; echo "[$SOME_KEY][$ALSO][$PLAIN][$REINS_HOME]"';
  const source = inline(scripted(calls("execute", { command }), shell));
  await using runtime = await backend.create({ source, ...autonomous });
  const [result] = eventsOf(await runToEnd(runtime, "Run it."), "tool.result");
  expect(result).toMatchObject({ is_error: false });
  expect(result?.output).toContain(dir.path);
  expect(result?.output).toContain(`[][][plain][${host.dataDir}]`);
});

test("an agent is pointed to read_file only when it has that tool", async () => {
  await using host = await leaseHost();
  using dir = openTempDir();
  writeFileSync(join(dir.path, "notes"), "body");
  const options = { work_dir: dir.path, data_dir: host.dataDir, tools: "host" } as const;
  await using backend = openEmbedded(options);
  const noteFor = async (...more: readonly object[]) => {
    const toolsets = [{ type: "shell" }, ...more];
    const source = inline(scripted(calls("execute", { command: "cat notes" }), { toolsets }));
    await using runtime = await backend.create({ source, ...autonomous });
    const [result] = eventsOf(await runToEnd(runtime, "Run it."), "tool.result");
    expect(result?.output).toContain("body");
    return result?.output.includes("read_file");
  };
  expect(await noteFor()).toBe(false);
  expect(await noteFor({ type: "filesystem", tools: ["write_file"] })).toBe(false);
  expect(await noteFor({ type: "filesystem" })).toBe(true);
});

test("what a team remembers is there for the next process", async () => {
  using dir = openTempDir();
  const options = { work_dir: dir.path, data_dir: join(dir.path, "data") };
  const memory = { toolsets: [{ type: "memory" }] };
  const name = "team.yaml";
  const run = async (steps: readonly object[]) => {
    await using backend = openEmbedded(options);
    const source = { ...inline(scripted(steps, memory)), name };
    await using runtime = await backend.create({ source, ...autonomous });
    return eventsOf(await runToEnd(runtime, "Go."), "tool.result")[0];
  };
  const added = await run(calls("memory_add", { text: "The door is green." }));
  expect(added).toMatchObject({ is_error: false });
  const found = await run(calls("memory_search", { query: "door" }));
  expect(found?.output).toContain("The door is green.");
});

test("an agent that is disposed of in the middle of a command ends before its tools do", async () => {
  await using host = await leaseHost();
  using dir = openTempDir();
  const backend = openEmbedded({
    work_dir: dir.path,
    data_dir: host.dataDir,
    tools: "host",
    env: { PATH: "/usr/bin:/bin" },
  });
  const command = "touch started; sleep 300";
  const source = inline(scripted(calls("execute", { command, timeout: "5m" }), shell));
  const runtime = await backend.create({ source, ...autonomous });
  const running = runToEnd(runtime, "Run it.");
  await waitFor("the command to start", () => existsSync(join(dir.path, "started")));
  await backend[Symbol.asyncDispose]();
  const events = await running;
  expect(eventsOf(events, "tool.result")[0]?.output).toContain("were ended");
  expect(events.at(-1)).toMatchObject({ type: "turn.ended", reason: "interrupted" });
});
