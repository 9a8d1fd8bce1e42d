import { afterAll, beforeAll, expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { createNap } from "#test/harness/process-tools.ts";
import { catches, findProcesses } from "#test/harness/processes.ts";
import { openReins, type Reins, succeed } from "#test/harness/reins.ts";

/** `reins exec`, `reins wait` and `reins signal`, as a person or a script uses them. */

let reins: Reins;
beforeAll(async () => {
  reins = await openReins();
});
afterAll(() => reins[Symbol.asyncDispose]());

test("exec passes output and exit code on, stdout and stderr apart", async () => {
  const done = await reins.run(["exec", "--", "echo out; echo err >&2; exit 3"]);
  expect(done).toMatchObject({ code: 3, stdout: "out\n", stderr: "err\n" });
});

test("exec takes several words as a program and its arguments, whatever is in them", async () => {
  const words = ["printf", "%s|", "a b", "$HOME", "it's", "&", "", "*", "a;b"];
  const done = await reins.run(["exec", ...words]);
  expect(done).toMatchObject({ code: 0, stdout: "a b|$HOME|it's|&||*|a;b|" });
  expect(await reins.run(["exec", "--", "pwd", "-P"])).toMatchObject({
    code: 0,
    stdout: `${reins.path}\n`,
  });
  expect(await reins.run(["exec", "--cwd", "/", "pwd"])).toMatchObject({ stdout: "/\n" });
});

test("exec asks nothing and marks what it runs", async () => {
  const done = await reins.run(["exec", "read x; echo $? $REINS_AGENT $GIT_EDITOR $TERM"]);
  expect(done).toMatchObject({ code: 0, stdout: "1 1 true dumb\n" });
  expect(await reins.run(["exec", "--tty", "test -t 0 && echo tty"])).toMatchObject({
    code: 0,
    stdout: "tty\r\n",
  });
});

test("exec leaves what takes too long, says its id and exits with 124; wait and signal end it", async () => {
  const nap = createNap();
  const late = await reins.run(["exec", "--timeout", "500ms", "--", `echo begun; exec ${nap}`]);
  expect(late).toMatchObject({ code: 124, stdout: "begun\n" });
  const id = /ses_[0-9a-z]{16}/.exec(late.stderr)?.[0] ?? "";
  expect(findProcesses(nap)).toHaveLength(1);
  expect(await reins.run(["wait", "--timeout", "100ms", id])).toMatchObject({
    code: 124,
    stderr: `reins: ${id} is still running\n`,
  });
  const waiting = reins.run(["wait", id]);
  expect(await reins.run(["signal", "--escalate-after", "20s", id, "INT"])).toMatchObject({
    code: 0,
    stdout: `${id} ended by SIGINT\n`,
  });
  expect(await waiting).toMatchObject({ code: 130, stdout: "" });
  expect(await reins.run(["signal", id, "terminate"])).toMatchObject({
    code: 0,
    stdout: `${id} already exited\n`,
  });
  expect(findProcesses(nap)).toEqual([]);
});

test("exec --background prints the id of what goes on; a trailing & does the same", async () => {
  const nap = createNap();
  const id = succeed(await reins.run(["exec", "--background", "--", nap])).trim();
  expect(id).toMatch(/^ses_[0-9a-z]{16}$/);
  const other = await reins.run(["exec", "--", `${nap} &`]);
  expect(other).toMatchObject({ code: 0, stdout: "" });
  const second = /ses_[0-9a-z]{16}/.exec(other.stderr)?.[0] ?? "";
  await waitFor("both", () => findProcesses(nap).length === 2);
  for (const one of [id, second])
    expect(await reins.run(["signal", "--escalate-after", "20s", one, "kill"])).toMatchObject({
      code: 0,
    });
  expect(await reins.run(["wait", "--json", id])).toMatchObject({ code: 137 });
});

test("exec --json prints what a model gets, and a lifetime ends the command", async () => {
  const done = await reins.run(["exec", "--json", "--", "echo hi; exit 2"]);
  expect(done.code).toBe(2);
  expect(JSON.parse(done.stdout)).toMatchObject({ success: false, exit_code: 2, output: "hi\n" });
  const ended = await reins.run(["exec", "--lifetime", "300ms", "--json", "--", createNap()]);
  expect(ended.code).toBe(129);
  expect(JSON.parse(ended.stdout).error).toContain("lifetime");
});

test("Ctrl-C is the command's, with --json as without; who is told to end leaves it alone", async () => {
  for (const flags of [[], ["--json"]]) {
    const [first, second] = [createNap(), createNap()];
    const interrupted = reins.start(["exec", ...flags, "--", `exec ${first}`]);
    await waitFor("all its signals are handled", () => catches(interrupted.pid, "SIGHUP"));
    interrupted.child.kill("SIGINT");
    expect(await interrupted.ended, flags.join()).toMatchObject({ code: 130 });
    expect(findProcesses(first)).toEqual([]);
    const left = reins.start(["exec", ...flags, "--", `exec ${second}`]);
    await waitFor("all its signals are handled", () => catches(left.pid, "SIGHUP"));
    left.child.kill("SIGTERM");
    const { code, stdout, stderr } = await left.ended;
    expect([code, stdout], flags.join()).toEqual([143, ""]);
    const id = /^reins: left; (ses_\w{16}) goes on/.exec(stderr)?.[1] ?? "";
    expect(await reins.run(["signal", id, "kill"])).toMatchObject({ code: 0 });
  }
});

test("what is wrong is said before anything starts", async () => {
  const wrong: [string[], number, RegExp][] = [
    [["exec"], 2, /say what to run/],
    [["exec", "--", " "], 2, /say what to run/],
    [["exec", "--timeout", "soon", "true"], 2, /--timeout/],
    [["exec", "--lifetime", "-1", "true"], 2, /--lifetime|lifetime/],
    [["exec", "--cwd", "/nowhere/at/all", "true"], 10, /nowhere/],
    [["wait"], 2, /reins wait ID/],
    [["wait", "ses_0000000000000000"], 8, /there is no session/],
    [["signal", "ses_0000000000000000"], 2, /reins signal ID SIGNAL/],
    [["signal", "ses_0000000000000000", "SIGNOPE"], 2, /SIGTERM/],
  ];
  for (const [args, code, said] of wrong) {
    const done = await reins.run(args);
    expect([args, done.code, done.stderr]).toEqual([args, code, expect.stringMatching(said)]);
  }
});
