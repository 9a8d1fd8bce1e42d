import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keepReins } from "#test/harness/kept-reins.ts";
import { openReins } from "#test/harness/reins.ts";

const { lease } = keepReins();

test("what cannot run is one sentence and leaves no session", async () => {
  await using reins = await lease();
  writeFileSync(join(reins.path, "file"), "");
  const rows = [
    [["--cwd", "nowhere", "--", "true"], 10, `cannot work in "${reins.path}/nowhere"`],
    [["--cwd", "file", "--", "true"], 10, `cannot work in "${reins.path}/file"`],
    [["--", "no-such-program"], 127, 'cannot run "no-such-program"'],
    [["--", "./file"], 126, 'cannot run "./file"'],
    [["--", reins.path], 126, `cannot run "${reins.path}"`],
    [["--", ""], 2, "the program's name is empty"],
    [["--remote", "nope", "--", "ls"], 2, '--remote: "nope" does not look like http'],
    [["--title", "x".repeat(201), "--", "true"], 2, "title: "],
    [["--lifetime", "soon", "--", "true"], 2, '--lifetime: "soon" is not a number of seconds'],
    [["--lifetime", "1e300", "--", "true"], 2, "lifetime_ms: "],
    [["--idle-timeout", "", "--", "true"], 2, '--idle-timeout: "" is not a number of seconds'],
    [["--no-tty"], 2, "command"],
    [["--bogus", "--", "true"], 2, "Unknown option '--bogus'"],
    [["--title"], 2, "Option '--title <value>' argument missing"],
  ] as const;
  for (const [args, code, words] of rows) {
    const result = await reins.run(["run", ...args]);
    expect(result, args.join(" ")).toMatchObject({ code, stdout: "" });
    expect(result.stderr).toMatch(/^reins: [^\n]+\n$/);
    expect(result.stderr).toContain(words);
  }
  expect(await reins.sessions()).toEqual([]);
  expect(readdirSync(join(reins.home, "sessions"))).toEqual([]);
});

test("words that mean nothing are refused by their names", async () => {
  await using reins = await openReins();
  const rows = [
    [["frob"], 'there is no command "frob"; reins --help lists them'],
    [["constructor"], 'there is no command "constructor"; reins --help lists them'],
    [["ps", "extra"], 'there is no use for "extra" here'],
    [["logs", "one", "two"], 'there is no use for "two" here'],
    [["attach", "one", "two"], 'there is no use for "two" here'],
    [["attach", "--view", "--takeover"], "--takeover and --view exclude each other"],
    [["logs", "--since", "-5"], "Option '--since' argument is ambiguous"],
    [["ps", "--frob"], "Unknown option '--frob'"],
    [["host", "restart"], "there is no reins host restart; status, stop and upgrade are"],
    [["host", "stop", "now"], 'there is no use for "now" here'],
  ] as const;
  for (const [args, sentence] of rows) {
    const result = await reins.run(args);
    expect(result).toMatchObject({ code: 2, stdout: "", stderr: `reins: ${sentence}\n` });
  }
  // Nobody was asked, so nobody was started.
  expect(await reins.hostPid()).toBeUndefined();
});

test("a file where the data directory should be stays what it is", async () => {
  await using reins = await lease();
  const file = join(reins.path, "taken");
  writeFileSync(file, "mine");
  for (const home of [file, join(file, "below")]) {
    const result = await reins.run(["ps"], { env: { REINS_HOME: home } });
    expect(result).toMatchObject({
      code: 7,
      stdout: "",
      stderr: `reins: cannot use ${home} as the data directory: there is a file in its place\n`,
    });
  }
  expect(readFileSync(file, "utf8")).toBe("mine");
});

test("a data directory of a newer format is left untouched", async () => {
  await using reins = await lease();
  const home = join(reins.path, "newer");
  mkdirSync(home);
  writeFileSync(join(home, "format"), "2\n");
  chmodSync(home, 0o755);
  const env = { REINS_HOME: home };
  const results = [
    await reins.run(["ps"], { env }),
    await reins.run(["run", "--", "true"], { env }),
    await reins.start(["host"], { env }).ended,
  ];
  for (const result of results) {
    expect(result.code).toBe(12);
    expect(result.stdout + result.stderr).toContain("was written by a newer Reins (format 2)");
  }
  expect(readdirSync(home)).toEqual(["format"]);
  expect(readFileSync(join(home, "format"), "utf8")).toBe("2\n");
  expect(statSync(home).mode & 0o777).toBe(0o755);
});

test("help is there for everything, and a program keeps its own", async () => {
  await using reins = await openReins();
  const all = await reins.run([]);
  expect(all).toMatchObject({ code: 0, stderr: "" });
  for (const name of ["run", "attach", "ps", "logs", "close"]) {
    expect(all.stdout).toMatch(new RegExp(`^  ${name} `, "m"));
    const help = await reins.run([name, "--help"]);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain(`Usage: reins ${name}`);
  }
  expect((await reins.run(["logs", "some", "-h"])).stdout).toContain("Usage: reins logs");
  expect(await reins.hostPid()).toBeUndefined();
  const own = await reins.run(["run", "sh", "-c", 'echo "$1"', "sh", "--help"]);
  expect(own).toMatchObject({ code: 0, stdout: "--help\n" });
});

test("a path too long for a socket works all the same", async () => {
  await using reins = await lease();
  const home = join(reins.path, "x".repeat(120));
  const env = { REINS_HOME: home };
  try {
    expect(await reins.run(["run", "--", "echo", "far"], { env })).toMatchObject({
      code: 0,
      stdout: "far\n",
    });
  } finally {
    await reins.run(["host", "stop"], { env });
  }
});
