import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keepReins } from "#test/harness/kept-reins.ts";
import type { Reins } from "#test/harness/reins.ts";
import { scripted } from "#test/harness/runtimes.ts";

const { lease } = keepReins();

const STEPS = [
  { when: { last_user_contains: "fail" }, error: { cause: "refused", message: "I refuse." } },
  {
    when: { last_user_contains: "loop" },
    tool_calls: [{ tool: "read_file", input: { path: "none" } }],
    repeat: true,
  },
  { text: "First." },
  { text: "Second.", repeat: true },
];
const agent = { toolsets: [{ type: "filesystem" }] };

function writeTeam(reins: Reins): void {
  writeFileSync(join(reins.path, "team.yaml"), scripted(STEPS, agent));
}

type Exit = [code: number, sentence: string, args: string[]];

async function expectExits(reins: Reins, exits: readonly Exit[]): Promise<void> {
  for (const [code, sentence, args] of exits) {
    const result = await reins.run(["run", "--exec", ...args]);
    expect([args, result.code]).toEqual([args, code]);
    expect(result.stderr).toContain(sentence);
    // A turn that is not done is the last.
    expect(result.stdout).not.toContain("Second.");
  }
}

test("exit codes tell how it ended", async () => {
  await using reins = await lease();
  writeTeam(reins);
  writeFileSync(join(reins.path, "short.yaml"), scripted(STEPS, { ...agent, max_iterations: 1 }));
  writeFileSync(join(reins.path, "poor.yaml"), scripted(STEPS, {}, { limits: { max_tokens: 1 } }));
  await expectExits(reins, [
    [13, "I refuse.", ["team.yaml", "fail", "never asked"]],
    [1, "as often as it may", ["short.yaml", "loop"]],
    [1, "same", ["team.yaml", "loop"]],
    [1, "tokens are used", ["poor.yaml", "One.", "Two."]],
  ]);
});

test("what cannot begin says why, by a sentence and by the exit code", async () => {
  await using reins = await lease();
  writeTeam(reins);
  writeFileSync(join(reins.path, "bad.yaml"), "agents:\n  root: { modle: x }\n");
  mkdirSync(join(reins.path, "folder.yaml"));
  mkdirSync(reins.home, { mode: 0o700, recursive: true });
  writeFileSync(join(reins.home, "token"), "secret\n", { mode: 0o600 });
  await expectExits(reins, [
    [11, "bad.yaml:2:11: unknown key `modle`", ["bad.yaml", "hi"]],
    [11, "no plain file", ["folder.yaml", "hi"]],
    [3, "there is no team file", ["none.yaml", "hi"]],
    [3, "there is no team named nobody", ["nobody", "hi"]],
    [2, "there is no prompt", ["team.yaml"]],
    [2, 'no agent "nobody"; it has root', ["team.yaml", "hi", "--agent", "nobody"]],
    [2, "model_overrides", ["team.yaml", "hi", "--model", "nobody=scripted/echo"]],
    [8, "ses_0000000000000000", ["--session", "ses_0000000000000000", "hi"]],
    [8, "no session's id contains", ["--session", "nothing", "hi"]],
    [7, "", ["team.yaml", "hi", "--remote", "http://127.0.0.1:1"]],
    [4, "put it into REINS_TOKEN", ["team.yaml", "hi", "--remote", "https://reins.example"]],
  ]);
});
