import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { createAgentRequest } from "./agent-request.ts";
import { parseTeamPlan } from "./team-plan.ts";

test("options stand anywhere, and what is no option is the team and its prompts", () => {
  expect(
    parseTeamPlan([
      "--exec",
      "team.yaml",
      "one",
      "--model=a/b",
      "-",
      "--model",
      "x=c/d=e",
      "--",
      "--two",
    ]),
  ).toMatchObject({
    team: "team.yaml",
    prompts: ["one", "-", "--two"],
    isHeadless: true,
    models: { "*": "a/b", x: "c/d=e" },
  });
});

test("a session has its team, so its words are prompts unless the first is a file", () => {
  expect(parseTeamPlan(["--session", "x", "go on"])).toMatchObject({
    team: undefined,
    prompts: ["go on"],
  });
  expect(parseTeamPlan(["team.yaml", "--session", "x", "go on"])).toMatchObject({
    team: "team.yaml",
    prompts: ["go on"],
  });
});

test("what makes no sense is refused in a sentence", () => {
  const table: [sentence: string, words: string[]][] = [
    ["say which team", ["--exec"]],
    ["does not look like", ["t.yaml", "--model", "root="]],
    ["does not look like", ["t.yaml", "--model", ""]],
    ["give `-` once", ["t.yaml", "-", "-"]],
    ["at most 100 prompts", ["t.yaml", ...Array<string>(101).fill("x")]],
    ["characters", ["t.yaml", "x".repeat(262_145)]],
    ["leave --session away", ["--session", "x", "--dry-run"]],
    ["stay as they were", ["--session", "x", "--working-dir", "."]],
    ["stay as they were", ["--session", "x", "--prompt-file", "f"]],
    ["--cwd", ["t.yaml", "--cwd", "x"]],
  ];
  for (const [sentence, words] of table) expect(() => parseTeamPlan(words)).toThrow(sentence);
});

test("the request has what was said and nothing else", () => {
  using dir = openTempDir();
  const file = join(dir.path, "notes.md");
  writeFileSync(file, "");
  const source = { kind: "name", name: "n" } as const;
  const words = [
    "t.yaml",
    "--working-dir",
    "there",
    "--prompt-file",
    "NOTES.md",
    "--prompt-file",
    file,
  ];
  const plan = parseTeamPlan([...words, "--exec", "--safety", "strict", "--agent", "a"]);
  const isRemote = false;
  expect(createAgentRequest({ ...plan, source, isRemote })).toEqual({
    source,
    agent_name: "a",
    working_dir: resolve("there"),
    safety: "strict",
    prompt_files: ["NOTES.md", file],
    headless: true,
  });
  expect(createAgentRequest({ ...plan, source, isRemote: true })).toMatchObject({
    working_dir: "there",
  });
  expect(createAgentRequest({ ...parseTeamPlan(["t.yaml"]), source, isRemote })).toEqual({
    source,
  });
  const session = "ses_0123456789abcdef";
  expect(createAgentRequest({ ...plan, session, isRemote })).toEqual({
    resume_session_id: session,
  });
  const wrong = parseTeamPlan(["t.yaml", "--safety", "some"]);
  expect(() => createAgentRequest({ ...wrong, source, isRemote })).toThrow("safety");
});
