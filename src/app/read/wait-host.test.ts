import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createExportOperations } from "#app/export/export.ts";
import { systemClock } from "#base/clock.ts";
import { createLocalHosts } from "#session/local-host.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { openTestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { openPatterns } from "./patterns.ts";
import { createWaitOperations } from "./wait.ts";

const leaseHost = leaseForFile(() => openTestHost());

const LONG_MS = 30_000;

async function openWaitingHost() {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await leaseHost());
  const patterns = stack.use(openPatterns());
  const hosts = createLocalHosts(host.client, host.sessions);
  const caller = createTestCaller();
  const operations = {
    ...createWaitOperations({ hosts, patterns, clock: systemClock }, caller),
    ...createExportOperations({ hosts }, caller),
  };
  const owned = stack.move();
  return {
    host,
    hosts,
    caller,
    wait: operations["session.wait"],
    export: operations["session.export"],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("waits follow a terminal from its prompt to its exit", async () => {
  await using waiting = await openWaitingHost();
  const { host, wait } = waiting;
  const script = 'printf "name? "; read name; echo "hello $name"; read end; exit 7';
  const { session_id } = await host.create({
    kind: "terminal",
    argv: ["sh", "-c", script],
    cols: 100,
    rows: 30,
  });
  const timeout_ms = LONG_MS;
  const prompt = await wait({ session_id, for: "regex", pattern: "\\? $", timeout_ms });
  expect(prompt).toMatchObject({ matched: true, offset: 4, end: 6, text: "? " });
  const since = prompt.end;
  const output = wait({ session_id, for: "output", since, timeout_ms });
  await host.operations["session.input"]({ session_id, data: "wörld\r" });
  expect(await output).toMatchObject({ matched: true, offset: 6 });
  const hello = await wait({ session_id, for: "text", text: "hello wörld", since, timeout_ms });
  expect(hello.end - hello.offset).toBe(12);
  expect(await wait({ session_id, for: "idle", idle_ms: 50, timeout_ms })).toMatchObject({
    matched: true,
    state: { kind: "running" },
  });
  const exit = wait({ session_id, for: "exit", timeout_ms });
  await host.operations["session.resize"]({ session_id, cols: 90, rows: 20 });
  await host.operations["session.input"]({ session_id, data: "\r" });
  expect(await exit).toMatchObject({ matched: true, state: { kind: "exited", exit_code: 7 } });
  expect(await wait({ session_id, for: "text", text: "never", timeout_ms })).toMatchObject({
    matched: false,
  });
  const { body } = await waiting.export({ session_id, format: "asciicast" });
  const cast = (await Array.fromAsync(body)).join("").trimEnd().split("\n");
  expect(JSON.parse(cast[0] ?? "")).toMatchObject({ version: 2, width: 100, height: 30 });
  const events = cast.slice(1).map((line): readonly [number, string, string] => JSON.parse(line));
  expect(events.filter(([, kind]) => kind === "r").map(([, , size]) => size)).toEqual(["90x20"]);
  const printed = events.filter(([, kind]) => kind === "o").map(([, , text]) => text);
  expect(printed.join("")).toBe((await host.output(session_id)).text);
  const { body: text } = await waiting.export({ session_id });
  expect((await Array.fromAsync(text)).join("")).toContain("name? wörld\nhello wörld\n");
  expect(waiting.hosts.all()[0].followed).toBe(0);
});

test("what a grandchild prints after the exit is still waited for", async () => {
  await using waiting = await openWaitingHost();
  using dir = openTempDir();
  const fifo = join(dir.path, "go");
  execFileSync("mkfifo", [fifo]);
  const script = `(read go < ${fifo}; echo late) & exit 0`;
  const { session_id } = await waiting.host.create({ argv: ["sh", "-c", script] });
  const timeout_ms = LONG_MS;
  expect(await waiting.wait({ session_id, for: "exit", timeout_ms })).toMatchObject({
    matched: true,
    state: { final: false },
  });
  const late = waiting.wait({ session_id, for: "text", text: "late\n", timeout_ms });
  const never = waiting.wait({ session_id, for: "regex", pattern: "never", timeout_ms });
  writeFileSync(fifo, "go\n");
  expect(await late).toMatchObject({ matched: true, offset: 0, end: 5 });
  expect(await never).toMatchObject({ matched: false, state: { final: true } });
});

test("a session that the caller may not see does not exist", async () => {
  await using waiting = await openWaitingHost();
  const { session_id } = await waiting.host.create({
    argv: ["true"],
    labels: { workspace_id: "wsp_0123456789abcdef" },
  });
  const caller = createTestCaller({ workspaces: [waiting.caller.workspace_id] });
  const { hosts } = waiting;
  using patterns = openPatterns();
  const { "session.wait": wait } = createWaitOperations(
    { hosts, patterns, clock: systemClock },
    caller,
  );
  const { "session.export": exported } = createExportOperations({ hosts }, caller);
  const notFound = { code: "session_not_found" };
  await expect(wait({ session_id, for: "exit", timeout_ms: 0 })).rejects.toMatchObject(notFound);
  await expect(exported({ session_id })).rejects.toMatchObject(notFound);
  expect(hosts.all()[0].followed).toBe(0);
});
