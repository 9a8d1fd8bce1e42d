import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commands } from "#cli/commands.ts";
import { describeAll, describeCommand } from "#cli/help.ts";
import { faults } from "#contract/faults.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { openReins, type Reins } from "#test/harness/reins.ts";
import { openResident, type Resident } from "#test/harness/resident.ts";
import { runProgram } from "#test/harness/run-program.ts";

const { lease } = keepReins();

test("--version is that of the package, and nothing else", async () => {
  await using reins = await lease();
  const manifest: { version: string } = JSON.parse(readFileSync("package.json", "utf8"));
  for (const flag of ["--version", "-V"])
    expect(await reins.run([flag])).toMatchObject({
      code: 0,
      stdout: `${manifest.version}\n`,
      stderr: "",
    });
});

test("whoever has seen enough, or has no room for it, is told no stack", async () => {
  await using reins = await lease();
  const run = (line: string) => runProgram(["bash", "-c", line], { env: reins.env });
  for (const words of ["--help", "--version", "help run"]) {
    // The reader has gone before anything is printed.
    const early = `{ reins ${words}; echo $? >&2; } | true`;
    expect(await run(early), words).toMatchObject({ stderr: "0\n" });
    const full = await run(`reins ${words} >/dev/full`);
    expect(full, words).toMatchObject({ code: faults.disk_full.exit });
    expect(full.stderr, words).toBe(
      "reins: cannot write to stdout: no space left where it is redirected to\n",
    );
  }
});

test("help tells of every command how it is used", async () => {
  await using reins = await openReins();
  for (const [name, spec] of Object.entries(commands)) {
    const told = { code: 0, stdout: describeCommand(spec), stderr: "" };
    expect(await reins.run(["help", name]), name).toMatchObject(told);
  }
  expect(await reins.run([])).toMatchObject({ code: 0, stdout: describeAll() });
  expect(await reins.hostPid()).toBeUndefined();
});

test("a name that is no command's is refused, and the nearest one is named", async () => {
  await using reins = await lease();
  const table: [words: string[], said: string][] = [
    [["help", "atach"], "did you mean reins attach?"],
    [["help", "xylophone"], '"xylophone"; reins --help lists them'],
    [["wacth"], "did you mean reins watch?"],
    [["constructor"], '"constructor"; reins --help lists them'],
  ];
  for (const [words, said] of table)
    expect(await reins.run(words), words.join(" ")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(said),
    });
  expect(await reins.run(["help", "--help"])).toMatchObject({ code: 0, stdout: describeAll() });
});

test("help is asked for behind a team and behind values, and a command keeps its own", async () => {
  await using reins = await lease();
  const help = { code: 0, stdout: describeCommand(commands.run ?? never()), stderr: "" };
  for (const words of [
    "team.yaml --help",
    "team.yaml prompt -h",
    "--title x --help",
    "--help -- ls",
  ])
    expect(await reins.run(["run", ...words.split(" ")]), words).toMatchObject(help);
  const command = await reins.run(["run", "--no-tty", "sh", "-c", 'echo "$0"', "--help"]);
  expect(command).toMatchObject({ code: 0, stdout: "--help\n" });
});

test("--on-event names the type that is nearest to one that does not exist", async () => {
  await using reins = await openReins();
  const table: [hook: string, said: string][] = [
    ["turn.end=true", 'no event of the type "turn.end"; did you mean turn.ended?'],
    ["sesion.exited=true", "did you mean session.exited?"],
    ["lunch=true", "some are turn.ended"],
  ];
  for (const [hook, said] of table)
    expect(await reins.run(["run", "--on-event", hook, "--", "true"]), hook).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(said),
    });
  expect(await reins.hostPid()).toBeUndefined();
});

function never(): never {
  throw new Error("it is in the table");
}

/** What a command says of words that it does not understand. */
const MISUNDERSTOOD =
  /Unknown option|there is no use for|argument missing|is ambiguous|there is no (?:command|reins|setting|completion)|which shell|is not a (?:number|time)|exclude each other|Unexpected argument|does not take an argument/;

/** What `reins` is called with in a line of a shell: the program there writes its words down and does nothing else. */
async function findWords(example: string, path: string): Promise<string[]> {
  const [program, words] = [join(path, "bin", "reins"), join(path, "words")];
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\0' "$@" >'${words}'\n`);
  const env = { ...process.env, PATH: `${join(path, "bin")}:${process.env.PATH}` };
  await runProgram(["sh", "-c", example], { cwd: path, env });
  return readFileSync(words, "utf8").split("\0").slice(0, -1);
}

describe("examples", () => {
  let reins: Reins;
  let resident: Resident;
  beforeAll(async () => {
    reins = await openReins();
    // Nothing can be kept below a file, so that no example gets further than its words.
    writeFileSync(join(reins.path, "file"), "");
    const home = join(reins.path, "file", "home");
    resident = openResident({ ...reins.env, REINS_HOME: home, REINS_TOKEN: "" }, reins.path);
  });
  afterAll(async () => {
    await resident[Symbol.asyncDispose]();
    await reins[Symbol.asyncDispose]();
  });

  test.each(Object.entries(commands))("every example of %s is understood", async (name, spec) => {
    for (const example of spec.examples) {
      const words = await findWords(example, reins.path);
      expect(words[0], example).toBe(name);
      const { stderr } = await resident.run(words);
      expect(stderr, example).not.toMatch(MISUNDERSTOOD);
    }
  });
});
