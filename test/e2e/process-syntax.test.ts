import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { createNap, openTestTools, type TestTools } from "#test/harness/process-tools.ts";
import { findProcesses } from "#test/harness/processes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** Commands as models write them: what is left of `&`, quotes and here-documents behind the shell. */

const stack = new AsyncDisposableStack();
let host: TestHost;
let tools: TestTools;
beforeAll(async () => {
  host = stack.use(await openTestHost());
  tools = stack.use(openTestTools(host));
});
afterAll(() => stack.disposeAsync());

const find = async (process_id: string | undefined) =>
  (await tools.call("process_list", {})).processes.find((entry) => entry.process_id === process_id);
const kill = (process_id: string | undefined) =>
  tools.call("process_signal", { process_id, signal: "kill", escalate_after: "10s" });

test("a trailing & is promoted: an id at once, and the tracked process is the work itself", async () => {
  const nap = createNap();
  const started = await tools.execute(`${nap} &`);
  expect(started).toMatchObject({ success: true, running: true, output: "" });
  expect(started).not.toHaveProperty("exit_code");
  expect(started.note).toContain("&");
  const entry = await find(started.background_process_id);
  expect(entry).toMatchObject({ command: `${nap} `, background: true, running: true });
  const [pid] = await waitFor("the nap", () => {
    const found = findProcesses(nap);
    return found.length > 0 && found;
  });
  // bash execs the only command of its line, so it is the session's own process.
  expect(findProcesses(nap)).toEqual([entry?.pid]);
  expect(pid).toBe(entry?.pid);
  await kill(started.background_process_id);
  expect(findProcesses(nap)).toEqual([]);
});

test.each([
  ['echo "a &"', "a &\n"],
  ["echo a \\&", "a &\n"],
  ["echo 'b &'", "b &\n"],
  ["true # x &", ""],
  ["cat <<X\nbody &\nX", "body &\n"],
])("& in quotes, escapes, comments and here-documents is not: %j", async (command, output) => {
  const done = await tools.execute(command);
  expect(done).toMatchObject({ success: true, running: false, exit_code: 0, output });
  expect(done).not.toHaveProperty("background_process_id");
});

test("&&, ||, |&, 2>&1, >&2 and &> are no backgrounding", async () => {
  using dir = openTempDir();
  const cases: [string, string][] = [
    ["true && echo ok 2>&1", "ok\n"],
    ["false || echo ok", "ok\n"],
    ["echo ok |& cat", "ok\n"],
    ["echo ok >&2", "ok\n"],
    [`echo ok &> ${dir.path}/f; cat ${dir.path}/f`, "ok\n"],
  ];
  for (const [command, output] of cases)
    expect([command, await tools.execute(command)]).toMatchObject([
      command,
      { exit_code: 0, running: false, output },
    ]);
  const broken = await tools.execute("true &&");
  expect(broken).toMatchObject({ success: false, running: false, exit_code: 2 });
  expect(broken.output).toContain("syntax error");
});

test("an inner & keeps its children tracked, listed and killable", async () => {
  const nap = createNap();
  const done = await tools.execute(`${nap} & echo hi`);
  expect(done).toMatchObject({ success: true, running: false, exit_code: 0, output: "hi\n" });
  expect(done.note).toContain("1 process that it started runs on");
  expect(done.background_process_id).toMatch(/^ses_/);
  const id = done.background_process_id;
  expect(await find(id)).toMatchObject({ running: false, exit_code: 0, descendants: 1 });
  expect(findProcesses(nap)).toHaveLength(1);
  expect(await kill(id)).toMatchObject({ success: true, signal_used: "SIGKILL" });
  expect(findProcesses(nap)).toEqual([]);
  expect(await find(id)).toMatchObject({ descendants: 0 });
});

test("children that hold none of the output are counted as well", async () => {
  const nap = createNap();
  const done = await tools.execute(`${nap} >/dev/null 2>&1 & ${nap} >/dev/null 2>&1 & echo hi`);
  expect(done).toMatchObject({ exit_code: 0, output: "hi\n" });
  expect(done.note).toContain("2 processes");
  await kill(done.background_process_id);
  expect(findProcesses(nap)).toEqual([]);
});

test("cmd & wait and a & b & wait end with their children, by the shell's code", async () => {
  expect(await tools.execute("(sleep 0.1; echo a) & wait")).toMatchObject({
    exit_code: 0,
    output: "a\n",
  });
  const two = await tools.execute("(sleep 0.2; echo b) & (sleep 0.1; echo a) & wait; exit 7");
  expect(two).toMatchObject({ success: false, exit_code: 7, output: "a\nb\n", running: false });
  expect(two).not.toHaveProperty("background_process_id");
});

test("errors of ; are passed through, and scripts of several lines run once", async () => {
  const broken = await tools.execute("sleep 60 & ; ");
  expect(broken).toMatchObject({ success: false, running: false, exit_code: 2 });
  expect(broken.output).toContain("syntax error");
  const nap = createNap();
  const inner = await tools.execute(`${nap} &\necho b`);
  expect(inner).toMatchObject({ exit_code: 0, output: "b\n" });
  await kill(inner.background_process_id);
  const script = await tools.execute(`echo once\n${nap} &`);
  expect(script).toMatchObject({ success: true, running: true });
  const id = script.background_process_id;
  const read = await tools.call("process_output", { process_id: id, wait_for: "output" });
  expect(read).toMatchObject({ output: "once\n", running: true });
  await waitFor("the nap", () => findProcesses(nap).length > 0);
  await kill(id);
  expect(findProcesses(nap)).toEqual([]);
});

test("the background flag with a trailing & tracks the work, not a shell that has gone", async () => {
  const nap = createNap();
  const started = await tools.execute(`${nap} &`, { run_in_background: true });
  expect(started).toMatchObject({ success: true, running: true });
  const id = started.background_process_id;
  await waitFor("the nap", () => findProcesses(nap).length > 0);
  expect(await tools.call("process_wait", { process_id: id, timeout: "300ms" })).toMatchObject({
    running: true,
    timed_out: true,
    note: "process is still running",
  });
  await kill(id);
  expect(findProcesses(nap)).toEqual([]);
});

test("a pipeline has the status of its last stage and dies as a whole", async () => {
  expect(await tools.execute("yes | head -1")).toMatchObject({ exit_code: 0, output: "y\n" });
  expect(await tools.execute("false | true")).toMatchObject({ exit_code: 0 });
  expect(await tools.execute("true | false")).toMatchObject({ exit_code: 1 });
  const nap = createNap();
  const started = await tools.execute(`${nap} | ${nap} | ${nap}`, { run_in_background: true });
  await waitFor("three naps", () => findProcesses(nap).filter(isNap(nap)).length === 3);
  await kill(started.background_process_id);
  expect(findProcesses(nap)).toEqual([]);
});

test("here-documents, here-strings, long scripts and a leading - are exact", async () => {
  const body = "a $HOME `x` \\ & ;\n\ttab";
  expect(await tools.execute(`cat <<'X'\n${body}\nX`)).toMatchObject({ output: `${body}\n` });
  expect(await tools.execute('cat <<< "one two"')).toMatchObject({ output: "one two\n" });
  const long = `echo begin\n${`: ${"x".repeat(1000)}\n`.repeat(200)}echo end; exit 4`;
  expect(Buffer.byteLength(long)).toBeGreaterThan(200_000);
  expect(await tools.execute(long)).toMatchObject({ output: "begin\nend\n", exit_code: 4 });
  const dashed = await tools.execute("-x; echo after");
  expect(dashed).toMatchObject({
    exit_code: 0,
    output: expect.stringMatching(/^[^\n]*-x: command not found\nafter\n$/),
  });
  expect(await tools.execute("echo -n a; printf -- '-b'")).toMatchObject({ output: "a-b" });
  await expect(tools.execute("echo a\0b")).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("command"),
  });
  await expect(tools.execute("  ")).rejects.toMatchObject({ code: "invalid_request" });
});

function isNap(nap: string): (pid: number) => boolean {
  return (pid) =>
    readFileSync(join("/proc", String(pid), "cmdline"), "latin1")
      .replaceAll("\0", " ")
      .trim() === nap;
}
