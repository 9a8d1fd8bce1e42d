import { expect, test } from "vitest";
import { commands } from "#cli/commands.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { openReins, type Reins, succeed } from "#test/harness/reins.ts";
import { runProgram } from "#test/harness/run-program.ts";
import { openTerminals } from "#test/harness/terminal-screen.ts";

const { lease } = keepReins();

test("Tab in a real bash completes commands, options and the ids of what runs", async () => {
  await using reins = await lease();
  using terminals = openTerminals(reins);
  const id = await reins.detach(["--", "sleep", "600"]);
  const pane = await terminals.open();
  pane.enter("exec bash --norc");
  await pane.prompts("out$");
  pane.enter("source <(reins completion bash); clear; echo ready");
  await pane.shows(/^ready$/m);
  pane.type("reins wa");
  pane.press("Tab", "Tab");
  await pane.shows(/^wait +watch *$/m);
  pane.type("it --time");
  pane.press("Tab");
  await pane.shows(/\$ reins wait --timeout *$/m);
  pane.type("5m ses_");
  pane.press("Tab");
  await pane.shows(`reins wait --timeout 5m ${id}`);
  pane.press("C-u");
  pane.type("reins run --cwd bi");
  pane.press("Tab");
  await pane.shows("reins run --cwd bin/");
  await reins.run(["close", id]);
});

test("a shell that nobody knows is refused, and so is none", async () => {
  await using reins = await openReins();
  for (const [args, words] of [
    [["tcsh"], 'there is no completion for "tcsh"; known are bash, zsh, fish'],
    [["constructor"], 'there is no completion for "constructor"'],
    [[], "which shell?"],
    [["bash", "zsh"], 'there is no use for "zsh" here'],
  ] as const) {
    const result = await reins.run(["completion", ...args]);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain(words);
  }
  expect(await reins.hostPid()).toBeUndefined();
});

test("fish completes commands, options and ids", async () => {
  await using reins = await lease();
  const id = await reins.detach(["--", "sleep", "600"]);
  const complete = async (line: string) => {
    const program = `reins completion fish | source; complete -C '${line}'`;
    const { stdout } = await runIn(reins, ["fish", "--no-config", "-c", program]);
    return stdout.split("\n").map((row) => row.split("\t")[0]);
  };
  expect(await complete("reins wa")).toEqual(expect.arrayContaining(withPrefix("wa")));
  expect(await complete("reins wait --time")).toContain("--timeout");
  expect(await complete("reins wait ses_")).toContain(id);
  await reins.run(["close", id]);
});

test("zsh reads its script without a complaint", async () => {
  await using reins = await lease();
  const program = "autoload -U compinit; compinit -D; source <(reins completion zsh); which _reins";
  const result = await runIn(reins, ["zsh", "-f", "-c", program]);
  expect(result.stderr).toBe("");
  expect(succeed(result)).toContain("_reins () {");
});

function withPrefix(prefix: string): string[] {
  return Object.keys(commands).filter((name) => name.startsWith(prefix));
}

function runIn(reins: Reins, argv: readonly string[]) {
  return runProgram(argv, { env: reins.env, cwd: reins.path });
}
