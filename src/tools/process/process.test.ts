import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuditedAction } from "#app/audit.ts";
import { limits } from "#contract/limits.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { createNap, openTestTools, type TestTools } from "#test/harness/process-tools.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

const stack = new AsyncDisposableStack();
let host: TestHost;
let tools: TestTools;
beforeAll(async () => {
  host = stack.use(await openTestHost());
  tools = stack.use(openTestTools(host));
});
afterAll(() => stack.disposeAsync());

test("a success is as short as it can be", async () => {
  expect(await tools.execute("echo hi")).toEqual({
    success: true,
    output: "hi\n",
    exit_code: 0,
    running: false,
    wall_duration_ms: expect.any(Number),
  });
});

test("output that cannot be read is said beside what became of the command", async () => {
  const started = await tools.execute("echo lost; exit 4", { run_in_background: true });
  const process_id = started.background_process_id ?? "";
  await waitFor("the end of its log", async () => {
    const { state } = await host.client.call("session.get", { session_id: process_id });
    return state.kind === "exited" && state.final;
  });
  const segment = join(host.sessions, process_id, "output", "0000000000000000");
  rmSync(segment);
  mkdirSync(segment);
  const read = await tools.call("process_output", { process_id });
  expect(read).toMatchObject({ success: false, running: false, exit_code: 4, output: "" });
  expect(read.error).toContain("its output cannot be read: ");
});

test("notes stand beside each other, and a file tool is named only to who has one", async () => {
  using dir = openTempDir();
  const reader = (command: string, more: object) =>
    tools.call("execute", { command, timeout: "20s", ...more }, { hasFileTool: true });
  await tools.execute("echo body > f; echo two > g", { workdir: dir.path });
  const workdir = { workdir: dir.path };
  const dump = await reader("cat f", workdir);
  expect(dump).toMatchObject({ output: "body\n" });
  expect(dump.note).toContain("read_file");
  expect(await tools.execute("cat f", workdir)).not.toHaveProperty("note");
  expect(await reader("cat <<X > f\nx\nX", workdir)).not.toHaveProperty("note");
  const late = await reader("mkfifo p && cat p", { ...workdir, timeout: "300ms" });
  expect(late.note?.split("; ")).toHaveLength(2);
  expect(late.note).toContain("read_file");
  expect(late.note).toContain("goes on");
  const process_id = late.background_process_id;
  await tools.call("process_signal", { process_id, signal: "kill", escalate_after: "10s" });
});

test("a directory is the caller's, relative to it, or must be said", async () => {
  using dir = openTempDir();
  using here = openTestTools(host, { caller: { work_dir: dir.path } });
  await here.execute("mkdir sub");
  expect(await here.execute("pwd -P")).toMatchObject({ output: `${dir.path}\n` });
  expect(await here.execute("pwd -P", { workdir: "sub" })).toMatchObject({
    output: `${dir.path}/sub\n`,
  });
  using afar = openTestTools(host, { deps: { requireWorkdir: true } });
  for (const more of [{}, { workdir: "sub" }])
    await expect(afar.execute("true", more)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("workdir"),
    });
  expect(await afar.execute("pwd", { workdir: "/" })).toMatchObject({ output: "/\n" });
});

test("what was done is written down, and never what was typed or run", async () => {
  const done: AuditedAction[] = [];
  const audit = { record: (action: AuditedAction) => void done.push(action) };
  using own = openTestTools(host, { deps: { audit }, caller: { user_id: "ada" } });
  const started = await own.execute("read secret", { tty: true, run_in_background: true });
  const process_id = started.background_process_id;
  await own.call("process_input", { process_id, text: "hush" });
  await own.call("process_signal", { process_id, signal: "kill", escalate_after: "10s" });
  expect(done.map(({ action }) => action)).toEqual([
    "session.opened",
    "session.wrote",
    "session.signalled",
  ]);
  expect(done.every(({ target_id }) => target_id === process_id)).toBe(true);
  expect(JSON.stringify(done)).not.toMatch(/hush|secret/);
});

test("a command that cannot be waited for is started all the same, and says its id", async () => {
  const nap = createNap();
  const started = await tools.execute(nap, { run_in_background: true });
  const process_id = started.background_process_id;
  const leaving = new AbortController();
  const { signal } = leaving;
  // One that is refused while too many arrive at once is asked for again.
  const wait = async () => {
    while (!signal.aborted)
      await tools
        .call("process_wait", { process_id, timeout: "1h" }, { signal })
        .catch(() => setImmediate());
  };
  const waits = Array.from({ length: limits.waits }, wait);
  // A thousand waits take their time to arrive where everything else runs at once.
  const refused = await waitFor(
    "no room for one more wait",
    async () => {
      const result = await tools.execute("echo ran; exec sleep 0.5", { timeout: "10s" });
      return result.running && result;
    },
    { timeout: 40_000 },
  );
  expect(refused).toMatchObject({ success: false, running: true });
  expect(refused.background_process_id).toMatch(/^ses_/);
  expect(refused.error).toContain(`${limits.waits} waits are under way`);
  expect(refused).not.toHaveProperty("timed_out");
  leaving.abort();
  await Promise.all(waits);
  const end = await tools.call("process_wait", {
    process_id: refused.background_process_id,
    timeout: "20s",
  });
  expect(end).toMatchObject({ exit_code: 0, output: "ran\n" });
  await tools.call("process_signal", { process_id, signal: "kill", escalate_after: "10s" });
});

test("an agent's session is no process", async () => {
  const agent = await host.create({ kind: "agent", argv: ["/bin/cat"] });
  const { session_id: process_id } = agent;
  await expect(tools.call("process_output", { process_id })).rejects.toMatchObject({
    code: "process_not_found",
    details: { process_id },
  });
  await host.client.call("session.close", { session_id: process_id });
});
