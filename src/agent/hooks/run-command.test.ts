import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "#base/clock.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { findProcesses } from "#test/harness/processes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { type CommandOptions, createRunCommand } from "./run-command.ts";

const PATH = "/usr/local/bin:/usr/bin:/bin";

/** A directory whose name is in the command line of all that the test starts. */
function openPlace(clock: ManualClock | typeof systemClock = systemClock) {
  const dir = openTempDir();
  writeFileSync(join(dir.path, "follow"), "");
  const aborter = new AbortController();
  const run = (line: string, options: Partial<CommandOptions> = {}) =>
    createRunCommand({ clock })(line, {
      stdin: "",
      cwd: dir.path,
      env: { PATH },
      timeout_ms: 60_000,
      output_limit: 1000,
      signal: aborter.signal,
      ...options,
    });
  return {
    path: dir.path,
    aborter,
    run,
    /** A command that lasts, and whose command line has the directory in it. */
    lasts: `tail -f ${dir.path}/follow`,
    left: () => findProcesses(dir.path),
    sees: (file: string) => waitFor(file, () => existsSync(join(dir.path, file))),
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}

test("a command gets its input, its directory and exactly its environment", async () => {
  using place = openPlace();
  const line = "cat; pwd; echo $A$B; echo oops >&2; exit 3";
  const run = await place.run(line, { stdin: "hello\n", env: { PATH, A: "1" } });
  expect(run).toEqual({
    exit_code: 3,
    signal: null,
    stdout: `hello\n${place.path}\n1\n`,
    stderr: "oops\n",
    timed_out: false,
    truncated: false,
  });
});

test("a command that does not read its input is no failure", async () => {
  using place = openPlace();
  const run = await place.run("exec 0<&-; exit 0", { stdin: "x".repeat(1_000_000) });
  expect(run).toMatchObject({ exit_code: 0, timed_out: false });
});

test("output beyond the limit is dropped and the command goes on", async () => {
  using place = openPlace();
  const run = await place.run("head -c 3000000 /dev/zero | tr '\\0' a; echo end >&2");
  expect(run).toMatchObject({ exit_code: 0, stderr: "end\n", truncated: true });
  expect(run.stdout).toBe("a".repeat(1000));
});

test("output of exactly the limit is whole", async () => {
  using place = openPlace();
  const run = await place.run("printf 12345", { output_limit: 5 });
  expect(run).toMatchObject({ stdout: "12345", truncated: false });
});

test("a signal that ends the command is named", async () => {
  using place = openPlace();
  expect(await place.run("kill -SEGV $$")).toMatchObject({ exit_code: null, signal: "SIGSEGV" });
});

test("a command that takes too long is ended with all that it started", async () => {
  const clock = new ManualClock();
  using place = openPlace(clock);
  const running = place.run(`${place.lasts} & touch up; ${place.lasts}`, { timeout_ms: 5000 });
  await place.sees("up");
  clock.advance(4999);
  expect(place.left()).not.toEqual([]);
  clock.advance(1);
  expect(await running).toMatchObject({ timed_out: true, signal: "SIGTERM" });
  await waitFor("the end of all of them", () => place.left().length === 0);
  expect(clock.timers).toBe(0);
});

test("a command that ignores SIGTERM is killed", async () => {
  const clock = new ManualClock();
  using place = openPlace(clock);
  const running = place.run(`trap '' TERM; touch up; ${place.lasts}`, { timeout_ms: 5000 });
  await place.sees("up");
  clock.advance(5000);
  clock.advance(1000);
  expect(await running).toMatchObject({ timed_out: true, signal: "SIGKILL" });
  await waitFor("the end of all of them", () => place.left().length === 0);
});

test("what a command leaves in the background ends with it", async () => {
  using place = openPlace();
  const run = await place.run(`trap '' TERM HUP; ${place.lasts} & echo done`);
  expect(run).toMatchObject({ exit_code: 0, stdout: "done\n" });
  await waitFor("the end of the background", () => place.left().length === 0);
});

test("one that left the group and holds the output does not hold up the answer", async () => {
  using place = openPlace();
  const line = `setsid sh -c 'echo $$ > pid; exec ${place.lasts}' & while [ ! -s pid ]; do sleep 0.01; done; echo done`;
  const run = await place.run(line);
  for (const pid of place.left()) process.kill(pid, "SIGKILL");
  expect(run).toMatchObject({ exit_code: 0, stdout: "done\n" });
  await waitFor("the end of the one that left", () => place.left().length === 0);
});

test("an abort ends the command with all that it started", async () => {
  using place = openPlace();
  const running = place.run(`${place.lasts} & touch up; ${place.lasts}`);
  await place.sees("up");
  place.aborter.abort(new Error("no longer wanted"));
  await expect(running).rejects.toThrow("no longer wanted");
  await waitFor("the end of all of them", () => place.left().length === 0);
});

test("nothing is started after an abort", async () => {
  using place = openPlace();
  place.aborter.abort(new Error("no longer wanted"));
  await expect(place.run("touch up")).rejects.toThrow("no longer wanted");
  expect(existsSync(join(place.path, "up"))).toBe(false);
});

test("a directory that is not there is an error", async () => {
  using place = openPlace();
  await expect(place.run("true", { cwd: join(place.path, "none") })).rejects.toThrow("ENOENT");
});
