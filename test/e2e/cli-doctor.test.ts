import { chmodSync, existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Finding } from "#cli/doctor/finding.ts";
import { connectHost } from "#host/socket/connect-host.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { openReins, type Reins } from "#test/harness/reins.ts";
import { type RunResult, runProgram } from "#test/harness/run-program.ts";

const { lease } = keepReins();

test("where all is well it says so, starts a host and exits with 0", async () => {
  await using reins = await openReins();
  const result = await reins.run(["doctor"], { env: { OPENAI_API_KEY: "sk-never-shown" } });
  expect(result).toMatchObject({ code: 0, stderr: "All is well.\n" });
  expect(result.stdout).toMatch(/^ok {6}terminal +A program runs in a terminal\.$/m);
  expect(result.stdout).toMatch(/^info {4}data_dir .* is not there yet/m);
  expect(result.stdout).toMatch(/^ok {6}keys +Keys for models are in .*OPENAI_API_KEY/m);
  expect(result.stdout).toContain(`runs as process ${await reins.hostPid()}`);
  expect(result.stdout).not.toContain("sk-never-shown");
});

test("for programs it is one object", async () => {
  await using reins = await lease();
  await reins.run(["ps", "-a"]);
  const result = await reins.run(["doctor", "--json"]);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  const { ok, checks } = readReport(result);
  expect(ok).toBe(true);
  expect(checks.map(({ name }) => name)).toEqual([
    ...["node", "terminal", "open_files", "terminal_count", "cgroups", "disk", "data_dir"],
    ...["socket", "token", "host", "gateway", "keys"],
  ]);
  for (const check of checks)
    expect(Object.keys(check)).toEqual(["name", "status", "sentence", "advice"]);
});

test("a host that was stopped is found out", async () => {
  await using reins = await lease();
  await reins.run(["ps", "-a"]);
  const pid = (await reins.hostPid()) ?? 0;
  process.kill(pid, "SIGSTOP");
  try {
    expect(await findCheck(reins, "host")).toMatchObject({
      status: "failed",
      sentence: "A host runs and does not answer.",
    });
  } finally {
    process.kill(pid, "SIGCONT");
  }
});

test("a host that is stopped behind its hello fails the request that waits, and says how to continue it", async () => {
  await using reins = await lease();
  await reins.run(["ps", "-a"]);
  const pid = (await reins.hostPid()) ?? 0;
  using host = await connectHost(join(reins.home, "host.sock"), { answerMs: 300 });
  process.kill(pid, "SIGSTOP");
  try {
    await expect(host.call("session.list", {})).rejects.toMatchObject({
      code: "host_unavailable",
      message: `the host (process ${pid}) is stopped. Continue it with: kill -CONT ${pid}`,
    });
  } finally {
    process.kill(pid, "SIGCONT");
  }
});

test("a limit of open files that is too low is found out", async () => {
  await using reins = await lease();
  const command = "ulimit -n 300; exec reins doctor --json";
  const result = await runProgram(["sh", "-c", command], { env: reins.env, cwd: reins.path });
  expect(result.code).toBe(1);
  expect(readReport(result).checks.find(({ name }) => name === "open_files")).toMatchObject({
    status: "failed",
    sentence: expect.stringContaining("Only 300 files"),
  });
});

test("words that mean nothing are refused", async () => {
  await using reins = await lease();
  expect(await reins.run(["doctor", "who"])).toMatchObject({ code: 2, stdout: "" });
});

test("what is wrong exits with 1, says what to do and is left as it is", async () => {
  await using reins = await lease();
  await reins.run(["ps", "-a"]);
  await reins.run(["host", "stop"]);
  chmodSync(reins.home, 0o755);
  writeFileSync(join(reins.home, "token"), "x", { mode: 0o644 });
  const result = await reins.run(["doctor"]);
  expect(result).toMatchObject({ code: 1, stderr: "2 checks failed.\n" });
  expect(result.stdout).toContain(`→ chmod 700 ${reins.home}\n`);
  expect(result.stdout).toMatch(/^FAILED {2}token /m);
  expect(result.stdout).toMatch(/^info {4}host +No host runs; none is started/m);
  expect(statSync(reins.home).mode & 0o777).toBe(0o755);
  expect(existsSync(join(reins.home, "host.sock"))).toBe(false);
  chmodSync(reins.home, 0o700);
});

function readReport({ stdout }: RunResult): { ok: boolean; checks: readonly Finding[] } {
  return JSON.parse(stdout);
}

async function findCheck(reins: Reins, name: string): Promise<Finding | undefined> {
  const { checks } = readReport(await reins.run(["doctor", "--json"]));
  return checks.find((check) => check.name === name);
}
