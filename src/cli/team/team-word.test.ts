import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { meansTeam } from "./team-word.ts";

test("a word is a team by its ending, by an option before it, or by a name that is known", () => {
  using dir = openTempDir();
  mkdirSync(join(dir.path, "teams"));
  writeFileSync(join(dir.path, "teams", "known.yaml"), "");
  writeFileSync(join(dir.path, "a b.yml"), "");
  const table: [words: string[], isTeam: boolean][] = [
    [["team.yaml"], true],
    [["team.yml", "prompt"], true],
    [["./dir/TEAM.YAML"], true],
    [["--json", "team.yaml"], true],
    [["--title", "x", "team.yaml"], true],
    [["--title=x", "team.yaml"], true],
    [["known"], true],
    [[join(dir.path, "a b.yml")], true],
    [["--exec", "reviewer"], true],
    [["--session", "ses_1", "go on"], true],
    [["--session=ses_1"], true],
    [["--remote", "http://x", "name"], true],
    [["--remote=http://x", "name"], true],
    [["--exec", "--remote", "http://x", "--", "name"], true],
    [["--model", "make", "test"], true],
    [["--no-exec", "make"], true],
    [[], false],
    [["make"], false],
    [["make", "--exec"], false],
    [["make", "team.yaml"], false],
    [["--", "team.yaml"], false],
    [["--json", "--", "known"], false],
    [["--title", "team.yaml", "make"], false],
    [["--cwd", "team.yaml", "make"], false],
    [["look at team.yaml"], false],
    [["../teams/known"], false],
    [["yaml"], false],
    [["--detach", "make"], false],
    [["--remote", "http://x"], false],
    [["--remote", "http://x", "--", "make"], false],
    [["--", "make", "--remote", "http://x"], false],
  ];
  for (const [words, isTeam] of table)
    expect([words, meansTeam(words, { dataDir: dir.path, commandValued: ["--cwd"] })]).toEqual([
      words,
      isTeam,
    ]);
});
