import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "#cli/commands.ts";
import { describeAll, describeCommand } from "#cli/help.ts";
import { openReins } from "#test/harness/reins.ts";
import { runProgram } from "#test/harness/run-program.ts";

test.concurrent("--version is that of the package, and nothing else", async () => {
  await using reins = await openReins();
  const manifest: { version: string } = JSON.parse(readFileSync("package.json", "utf8"));
  for (const flag of ["--version", "-V"])
    expect(await reins.run([flag])).toMatchObject({
      code: 0,
      stdout: `${manifest.version}\n`,
      stderr: "",
    });
});

test.concurrent("help tells of every command how it is used", async () => {
  await using reins = await openReins();
  for (const [name, spec] of Object.entries(commands)) {
    const told = { code: 0, stdout: describeCommand(spec), stderr: "" };
    expect(await reins.run(["help", name]), name).toMatchObject(told);
  }
  expect(await reins.run([])).toMatchObject({ code: 0, stdout: describeAll() });
  expect(await reins.hostPid()).toBeUndefined();
});

/** What a command says of words that it does not understand. */
const MISUNDERSTOOD =
  /Unknown option|there is no use for|argument missing|is ambiguous|there is no (?:command|reins|setting|completion)|which shell|is not a (?:number|time)|exclude each other|Unexpected argument|does not take an argument/;

test.each(Object.entries(commands))("every example of %s is understood", async (_, spec) => {
  await using reins = await openReins();
  // Nothing can be kept below a file, so that no example gets further than its words.
  writeFileSync(join(reins.path, "file"), "");
  const env = { ...reins.env, REINS_HOME: join(reins.path, "file", "home"), REINS_TOKEN: "" };
  for (const example of spec.examples) {
    const { stderr } = await runProgram(["sh", "-c", example], { cwd: reins.path, env });
    expect(stderr, example).not.toMatch(MISUNDERSTOOD);
  }
});
