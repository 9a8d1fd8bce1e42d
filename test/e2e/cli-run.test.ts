import { createHash, randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { succeed } from "#test/harness/reins.ts";
import { runProgram } from "#test/harness/run-program.ts";

const { lease } = keepReins();

test("stdout, stderr and the exit code are the program's", async () => {
  await using reins = await lease();
  const script = "echo out; echo err >&2; printf end; exit 3";
  const result = await reins.run(["run", "--", "sh", "-c", script]);
  expect(result).toMatchObject({ code: 3, stdout: "out\nend", stderr: "err\n" });
  expect(await reins.run(["run", "true"])).toMatchObject({ code: 0, stdout: "", stderr: "" });
  expect(await reins.run(["run", "--", "sh", "-c", "kill -9 $$"])).toMatchObject({ code: 137 });
  expect(await reins.run(["run", "--", "sh", "-c", "kill -TERM $$"])).toMatchObject({ code: 143 });
});

test("the program runs where, as and with what the caller does", async () => {
  await using reins = await lease();
  mkdirSync(join(reins.path, "a b"));
  const script = 'pwd; umask; echo "$COLOUR"; test -t 0 || test -t 1 || echo no terminal';
  const env = { COLOUR: "blue" };
  const here = await reins.run(["run", "--", "sh", "-c", script], { env });
  expect(here.stdout).toBe(
    `${reins.path}\n0${process.umask().toString(8).padStart(3, "0")}\nblue\nno terminal\n`,
  );
  const there = await reins.run(["run", "--cwd", "a b", "--", "pwd"]);
  expect(there.stdout).toBe(`${join(reins.path, "a b")}\n`);
});

test("a terminal is given to who asks for one", async () => {
  await using reins = await lease();
  const script = 'test -t 0 && test -t 1 && echo "$TERM"; stty size';
  const result = await reins.run(["run", "--tty", "--", "sh", "-c", script]);
  expect(result).toMatchObject({ code: 0, stdout: "xterm-256color\r\n24 80\r\n" });
});

test("a megabyte on stdin reaches the program whole", async () => {
  await using reins = await lease();
  const bytes = randomBytes(1024 * 1024);
  const running = reins.start(["run", "--", "cat"], { input: bytes });
  expect(await running.ended).toMatchObject({ code: 0, stderr: "" });
  expect(sha256(running.stdout())).toBe(sha256(bytes));
});

test("stdin goes on as it comes, its end too", async () => {
  await using reins = await lease();
  const running = reins.start(["run", "--", "cat"], { input: "pipe" });
  running.child.stdin?.write("one\n");
  await running.says("one\n");
  running.child.stdin?.end("two\n");
  expect(await running.ended).toMatchObject({ code: 0, stdout: "one\ntwo\n", stderr: "" });
});

test("a stdin that nobody ends does not hold a program that has ended", async () => {
  await using reins = await lease();
  const running = reins.start(["run", "--", "sh", "-c", "exit 4"], { input: "pipe" });
  expect(await running.ended).toMatchObject({ code: 4, stdout: "", stderr: "" });
});

test("without a stdin the program reads an end at once", async () => {
  await using reins = await lease();
  expect(await reins.run(["run", "--", "cat"])).toMatchObject({ code: 0, stdout: "" });
});

test("--json prints a frame a line, the exit last", async () => {
  await using reins = await lease();
  const script = String.raw`printf 'out\n'; printf '\377' >&2; exit 3`;
  const result = await reins.run(["run", "--json", "--", "sh", "-c", script]);
  expect(result).toMatchObject({ code: 3, stderr: "" });
  const frames = parseLines(result.stdout);
  expect(frames.at(-1)).toEqual({
    type: "exit",
    exit_code: 3,
    signal: null,
    reason: "exited",
    tail: 5,
  });
  // Two pipes have no order between them.
  const byType = new Map(frames.map((frame) => [frame.type, frame]));
  expect(byType.get("stdout")).toMatchObject({ data: "out\n", encoding: "utf8" });
  expect(byType.get("stderr")).toMatchObject({ data: "/w==", encoding: "base64" });
  expect(frames.map((frame) => frame.offset)).toContain(0);
});

test("--json tells of death by a signal", async () => {
  await using reins = await lease();
  const result = await reins.run(["run", "--json", "--", "sh", "-c", "kill -9 $$"]);
  expect(result.code).toBe(137);
  expect(parseLines(result.stdout)).toEqual([
    { type: "exit", exit_code: 137, signal: "SIGKILL", reason: "exited", tail: 0 },
  ]);
});

test("--detach prints the id and leaves the session running", async () => {
  await using reins = await lease();
  const plain = await reins.run(["run", "--detach", "--", "sleep", "1000"]);
  expect(plain).toMatchObject({ code: 0, stderr: "" });
  expect(plain.stdout).toMatch(/^ses_[0-9a-z]{16}\n$/);
  const args = ["run", "-d", "--json", "--title", "nap", "--tty", "sleep", "1000"];
  const session = JSON.parse(succeed(await reins.run(args)));
  expect(session).toMatchObject({ kind: "terminal", mode: "pty", title: "nap" });
  const listed = await reins.sessions();
  expect(listed.map(({ session_id }) => session_id)).toEqual([
    session.session_id,
    plain.stdout.trim(),
  ]);
  expect(listed.map(({ state }) => state.kind)).toEqual(["running", "running"]);
});

test("a session ends after its lifetime, with that as the reason", async () => {
  await using reins = await lease();
  const result = await reins.run(["run", "--json", "--lifetime", "0.2", "--", "sleep", "1000"]);
  expect(result.code).toBe(129);
  expect(parseLines(result.stdout).at(-1)).toMatchObject({ reason: "lifetime_timeout" });
});

test("an interrupt is the program's to answer", async () => {
  await using reins = await lease();
  const script = 'trap "echo caught; exit 5" INT; echo ready; while :; do sleep 0.05; done';
  const running = reins.start(["run", "--", "sh", "-c", script]);
  await running.says("ready");
  running.child.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 5, stdout: "ready\ncaught\n" });
});

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s ends the command and not the session", async (signal, code) => {
  await using reins = await lease();
  const running = reins.start(["run", "--", "sh", "-c", "echo ready; exec sleep 1000"], {
    input: "pipe",
  });
  await running.says("ready");
  running.child.kill(signal);
  const result = await running.ended;
  const [session] = await reins.sessions();
  expect(result).toMatchObject({ code, stdout: "ready\n" });
  expect(result.stderr).toBe(
    `reins: left; ${session?.session_id} goes on, reins attach brings you back\n`,
  );
  expect(session?.state).toEqual({ kind: "running" });
});

test("Ctrl-C of who only watches is not the program's", async () => {
  await using reins = await lease();
  await using gateway = await openGatewayProcess({ dataDir: reins.home });
  const id = await reins.detach(["--", "sh", "-c", "echo ready; exec sleep 1000"]);
  for (const where of [[], ["--remote", gateway.door.url]]) {
    const running = reins.start(["attach", "--view", id, ...where]);
    await running.says("ready");
    running.child.kill("SIGINT");
    const code = 128 + constants.signals.SIGINT;
    expect(await running.ended, where.join(" ")).toMatchObject({ code, stdout: "ready\n" });
    expect((await reins.session(id)).state).toEqual({ kind: "running" });
  }
});

test("a command that is killed leaves the session running", async () => {
  await using reins = await lease();
  const running = reins.start(["run", "--", "sh", "-c", "echo ready; exec sleep 1000"]);
  await running.says("ready");
  running.child.kill("SIGKILL");
  await running.ended;
  expect((await reins.sessions())[0]?.state).toEqual({ kind: "running" });
});

test("a reader who has seen enough ends the command without a word", async () => {
  await using reins = await lease();
  const line = "reins run -- sh -c 'while echo line; do sleep 0.01; done' | head -1";
  const result = await runProgram(["sh", "-c", line], { cwd: reins.path, env: reins.env });
  expect(result).toMatchObject({ code: 0, stdout: "line\n", stderr: "" });
  expect((await reins.sessions())[0]?.state).toEqual({ kind: "running" });
});

test("a host that is killed is told of, with its own exit code", async () => {
  await using reins = await lease();
  const running = reins.start(["run", "--", "sh", "-c", "echo ready; exec sleep 1000"]);
  await running.says("ready");
  process.kill((await reins.hostPid()) ?? 0, "SIGKILL");
  const result = await running.ended;
  expect(result).toMatchObject({ code: 7, stdout: "ready\n" });
  expect(result.stderr).toMatch(/^reins: the host has gone away; reins logs ses_\w+ shows/);
  const session = await waitFor("the next host lists the session", async () => {
    const [found] = await reins.sessions();
    return found;
  });
  expect(session.state).toMatchObject({ kind: "lost", reason: "host_lost" });
  expect(succeed(await reins.run(["logs", session.session_id]))).toBe("ready\n");
});

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function parseLines(text: string): Record<string, unknown>[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}
