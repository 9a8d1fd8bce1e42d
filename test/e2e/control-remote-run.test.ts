import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SLOW_MS } from "#test/harness/control.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { type Reins, succeed } from "#test/harness/reins.ts";

const { lease } = keepReins();

async function openServer(reins: Reins, port = 0) {
  // The host of this directory, and not one of the server's own environment.
  succeed(await reins.run(["ps", "-a"]));
  return await openGatewayProcess({ dataDir: reins.home, port });
}

test("a command of a server is a part of a pipeline here: bytes, channels, exit code", {
  timeout: SLOW_MS,
}, async () => {
  await using reins = await lease();
  await using server = await openServer(reins);
  const there = ["run", "--remote", server.door.url];
  const at = [...there, "--cwd", reins.path];
  expect(await reins.run([...at, "--", "sh", "-c", "pwd; echo problem >&2; exit 3"])).toMatchObject(
    { code: 3, stdout: `${reins.path}\n`, stderr: "problem\n" },
  );
  const input = Buffer.alloc(300_000, "0123456789abcde\n").toString();
  expect(await reins.run([...at, "--", "cat"], { input })).toMatchObject({
    code: 0,
    stdout: input,
    stderr: "",
  });
  const frames = await reins.run([...at, "--json", "--", "echo", "hi"]);
  expect(frames.stdout.split("\n")).toEqual([
    '{"type":"stdout","offset":0,"data":"hi\\n","encoding":"utf8"}',
    '{"type":"exit","exit_code":0,"signal":null,"reason":"exited","tail":3}',
    "",
  ]);
  // A name without `--` is a team that the server knows.
  expect(await reins.run([...there, "-d", "make"])).toMatchObject({ code: 3, stdout: "" });
  const interrupted = reins.start([...at, "--", "sh", "-c", "echo on; exec sleep 600"]);
  await interrupted.says("on\n");
  interrupted.child.kill("SIGINT");
  expect(await interrupted.ended).toMatchObject({ code: 130 });
  const left = reins.start([...at, "--", "sh", "-c", "echo on; exec sleep 600"]);
  await left.says("on\n");
  left.child.kill("SIGTERM");
  expect(await left.ended).toMatchObject({
    code: 143,
    stderr: expect.stringMatching(
      `goes on, reins attach --remote ${server.door.url} brings you back`,
    ),
  });
  expect((await reins.sessions())[0]?.state.kind).toBe("running");
});

test("a command of a server gets a signal and its logs are followed to the end from here", {
  timeout: SLOW_MS,
}, async () => {
  await using reins = await lease();
  await using server = await openServer(reins);
  const there = ["--remote", server.door.url];
  const script = "echo one; echo two >&2; exec sleep 600";
  const at = ["run", "-d", ...there, "--cwd", reins.path];
  const id = succeed(await reins.run([...at, "--", "sh", "-c", script])).trim();
  const following = reins.start(["logs", "-f", ...there, id]);
  await following.says("one\n");
  expect(await reins.run(["signal", ...there, id, "TERM"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(id),
  });
  expect(await following.ended).toMatchObject({ code: 0, stdout: "one\n", stderr: "two\n" });
  expect(await reins.run(["logs", ...there, "--since", "999", id])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("999"),
  });
});

test("a command that is followed over a server goes on when the server was killed and is back", {
  timeout: SLOW_MS,
}, async () => {
  await using reins = await lease();
  await using first = await openServer(reins);
  const script = "echo one; until [ -e go ]; do sleep 0.1; done; echo two; cat; exit 4";
  const running = reins.start(
    [...["run", "--remote", first.door.url, "--cwd", reins.path], ...["--", "sh", "-c", script]],
    { input: "pipe" },
  );
  await running.says("one\n");
  const id = (await reins.sessions())[0]?.session_id ?? "";
  await first.kill("SIGKILL");
  writeFileSync(join(reins.path, "go"), "");
  await waitFor("it is printed", async () =>
    succeed(await reins.run(["logs", id])).includes("two\n"),
  );
  running.child.stdin?.end("three\n");
  await using _second = await openServer(reins, first.port);
  expect(await running.ended).toMatchObject({
    code: 4,
    stdout: "one\ntwo\nthree\n",
    stderr: "reins: the server is away; it is tried again\n",
  });
});

test("what runs on a server is told where: a path there, or a task of it", {
  timeout: SLOW_MS,
}, async () => {
  await using reins = await lease();
  await using server = await openServer(reins);
  const there = ["run", "--remote", server.door.url];
  const table: [code: number, said: RegExp, args: string[]][] = [
    [2, /--cwd DIR, a path of the server, or --task ID/, ["--", "true"]],
    [2, /--cwd DIR/, []],
    [2, /"here" is relative/, ["--cwd", "here", "--", "true"]],
    [2, /--listen serves a run of this machine/, ["--listen", "127.0.0.1:0", "--", "true"]],
    [3, /no task/, ["--task", "tsk_0000000000000000", "--", "true"]],
  ];
  const results: unknown[] = [];
  for (const [, , args] of table) {
    const { code, stdout, stderr } = await reins.run([...there, ...args]);
    results.push([code, stdout, stderr, args]);
  }
  expect(results).toEqual(
    table.map(([code, said, args]) => [code, "", expect.stringMatching(said), args]),
  );
  expect(await reins.sessions()).toEqual([]);
  const task = succeed(await reins.run(["task", "create", "bin"])).trim();
  expect(await reins.run([...there, "--task", task, "--", "pwd"])).toMatchObject({
    code: 0,
    stdout: `${join(reins.path, "bin")}\n`,
  });
  const made = JSON.parse(succeed(await reins.run([...there, "-d", "--json", "--task", task])));
  expect(made).toMatchObject({
    kind: "terminal",
    task_id: task,
    work_dir: join(reins.path, "bin"),
  });
  const id = succeed(await reins.run([...there, "-d", "--cwd", "/", "--", "sleep", "600"])).trim();
  expect(await reins.session(id)).toMatchObject({ kind: "command", state: { kind: "running" } });
});
