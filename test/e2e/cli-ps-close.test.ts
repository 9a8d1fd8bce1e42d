import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { isAlive } from "#test/harness/processes.ts";
import { openReins, succeed } from "#test/harness/reins.ts";

const { lease } = keepReins();

test("ps says when there is nothing", async () => {
  await using reins = await openReins();
  expect(await reins.run(["ps"])).toMatchObject({
    code: 0,
    stdout: "",
    stderr: "Nothing is running. Start something with: reins run -- COMMAND\n",
  });
  expect(JSON.parse(succeed(await reins.run(["ps", "--json"])))).toEqual({ sessions: [] });
});

test("ps starts no host for a list of nothing", async () => {
  await using reins = await lease();
  const env = { REINS_HOME: join(reins.path, "unused") };
  expect(JSON.parse(succeed(await reins.run(["ps", "--json"], { env })))).toEqual({ sessions: [] });
  expect(await reins.run(["host", "status"], { env })).toMatchObject({
    code: 0,
    stderr: "No host is running; the next command starts one.\n",
  });
});

test("ps lists what runs, ps -a also what has ended", async () => {
  await using reins = await lease();
  await reins.run(["run", "--title", "done \x1b[31m", "--", "sh", "-c", "exit 3"]);
  const id = await reins.detach(["--", "sleep", "1000"]);
  const running = succeed(await reins.run(["ps"])).split("\n");
  expect(running).toHaveLength(3);
  expect(running[0]).toMatch(/^ID +STATUS +KIND +AGE +TITLE +DIRECTORY$/);
  expect(running[1]).toMatch(
    new RegExp(`^${id}  running  command  \\d+s +sleep 1000  ${reins.path}$`),
  );
  const all = succeed(await reins.run(["ps", "-a"])).split("\n");
  expect(all).toHaveLength(4);
  expect(all[2]).toMatch(/^ses_\w{16} {2}exited 3 {2}command {2}\d+s +done {2}\[31m +\//);
  const json = JSON.parse(succeed(await reins.run(["ps", "--json"])));
  expect(json.sessions).toMatchObject([
    { session_id: id, state: { kind: "running" }, argv: ["sleep", "1000"], work_dir: reins.path },
  ]);
});

test("close ends a session and all that it started, and again changes nothing", async () => {
  await using reins = await lease();
  const id = await reins.detach(["--", "sh", "-c", "setsid sleep 1000 & echo $!; sleep 1000"]);
  const grandchild = await waitFor(
    "the session prints a pid",
    async () => Number((await reins.run(["logs", id])).stdout) || undefined,
  );
  expect(isAlive(grandchild)).toBe(true);
  const closed = await reins.run(["close", "--reason", "enough", id]);
  expect(closed).toMatchObject({ code: 0, stdout: `${id} SIGHUP\n`, stderr: "" });
  await waitFor("the grandchild ends", () => !isAlive(grandchild));
  const again = await reins.run(["close", "--reason", "other", id]);
  expect(again).toMatchObject({ code: 0, stdout: `${id} SIGHUP\n` });
  const { state } = await reins.session(id);
  expect(state).toMatchObject({ reason: "user_requested", detail: "enough", exit_code: 129 });
});

test("close takes several, and parts of ids", async () => {
  await using reins = await lease();
  const first = await reins.detach(["--", "sleep", "1000"]);
  const second = await reins.detach(["--", "sleep", "1000"]);
  const result = await reins.run(["close", "--json", first, second.slice(6)]);
  expect(result.code).toBe(0);
  const closed = result.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(closed.map(({ session_id }) => session_id).toSorted()).toEqual([first, second].toSorted());
  expect(closed.map(({ state }) => state.kind)).toEqual(["exited", "exited"]);
});

test("close of an unknown one says so and closes the others", async () => {
  await using reins = await lease();
  const id = await reins.detach(["--", "sleep", "1000"]);
  const unknown = await reins.run(["close", "ses_0000000000000000", id]);
  expect(unknown).toMatchObject({
    code: 8,
    stdout: `${id} SIGHUP\n`,
    stderr:
      "reins: there is no session ses_0000000000000000; reins ps -a lists them; reins run -- COMMAND starts one\n",
  });
  const part = await reins.run(["close", "nowhere"]);
  expect(part).toMatchObject({ code: 8, stdout: "" });
  expect(part.stderr).toBe(
    `reins: no session's id contains "nowhere", and no session has this name; reins ps -a lists them; reins run -- COMMAND starts one\n`,
  );
});

test("close of a part that fits several closes none and names them", async () => {
  await using reins = await lease();
  const ids = [
    await reins.detach(["--", "sleep", "1000"]),
    await reins.detach(["--", "sleep", "1000"]),
  ];
  const result = await reins.run(["close", "ses_"]);
  expect(result).toMatchObject({ code: 9, stdout: "" });
  for (const id of ids) expect(result.stderr).toContain(id);
  const states = (await reins.sessions()).map(({ state }) => state.kind);
  expect(states).toEqual(["running", "running"]);
});

test("close without a name closes nothing", async () => {
  await using reins = await lease();
  const id = await reins.detach(["--", "sleep", "1000"]);
  // An unset variable, as a script would pass it.
  for (const args of [["close"], ["close", ""], ["close", " ", id]]) {
    expect(await reins.run(args)).toMatchObject({
      code: 2,
      stdout: "",
      stderr: "reins: say which: reins close ID… (reins ps lists them)\n",
    });
  }
  expect((await reins.session(id)).state).toEqual({ kind: "running" });
});

test("close --purge removes every trace", async () => {
  await using reins = await lease();
  const id = await reins.detach(["--", "sh", "-c", "echo secret; sleep 1000"]);
  const folder = join(reins.home, "sessions", id);
  expect(existsSync(folder)).toBe(true);
  expect(await reins.run(["close", "--purge", id])).toMatchObject({ code: 0 });
  expect(existsSync(folder)).toBe(false);
  expect(await reins.sessions()).toEqual([]);
  expect(await reins.run(["logs", id])).toMatchObject({ code: 8, stdout: "" });
  expect(await reins.run(["close", "--purge", id])).toMatchObject({ code: 8 });
});

test("host stop ends the host and its sessions, and the next command starts one", async () => {
  await using reins = await lease();
  const id = await reins.detach(["--", "sleep", "1000"]);
  const pid = (await reins.hostPid()) ?? 0;
  const status = succeed(await reins.run(["host", "status"]));
  expect(status).toMatch(new RegExp(`^pid +${pid}$`, "m"));
  const stopped = "The host was stopped, and 1 session ended.\n";
  expect(await reins.run(["host", "stop"])).toMatchObject({ code: 0, stdout: "", stderr: stopped });
  await waitFor("the host ends", () => !isAlive(pid));
  expect(await reins.run(["host", "status"])).toMatchObject({
    code: 0,
    stdout: "",
    stderr: "No host is running; the next command starts one.\n",
  });
  expect(await reins.run(["host", "stop"])).toMatchObject({ code: 0 });
  expect((await reins.session(id)).state).toMatchObject({
    kind: "exited",
    reason: "host_shutdown",
  });
  expect(await reins.hostPid()).not.toBe(pid);
});
