import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { silentLogger } from "#base/logger.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { callerOf } from "#test/harness/tool-context.ts";
import { createSkillsToolset } from "./read-skill.ts";
import { findSkills } from "./skills.ts";

function openTree(files: Readonly<Record<string, string>> = {}) {
  const dir = openTempDir();
  const at = (path: string) => join(dir.path, path);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  mkdirSync(at("repo/deep/er"), { recursive: true });
  mkdirSync(at("repo/.git"));
  mkdirSync(at("home"));
  for (const [path, text] of Object.entries(files)) write(path, text);
  const place = { work_dir: at("repo/deep/er"), home: at("home"), log: silentLogger };
  const search = { config: true, ...place } as const;
  return { at, write, search, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

const skill = (name: string, description: string) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\nDo it well.\n`;

test("skills are found from the work dir up to the repository's root and at home, nearest first", () => {
  using tree = openTree({
    "repo/deep/er/.reins/skills/one/SKILL.md": skill("one", "near"),
    "repo/deep/.claude/skills/two/SKILL.md": skill("two", "between"),
    "repo/.agents/skills/one/SKILL.md": skill("one", "far"),
    "repo/.agents/skills/three/SKILL.md": skill("three", "top"),
    "home/.claude/skills/two/SKILL.md": skill("two", "home"),
    "home/.claude/skills/four/SKILL.md": skill("four", "home"),
    ".claude/skills/five/SKILL.md": skill("five", "above the repository"),
  });
  const found = findSkills(tree.search);
  expect(found.map(({ name, description }) => [name, description])).toEqual([
    ["one", "near"],
    ["two", "between"],
    ["three", "top"],
    ["four", "home"],
  ]);
  expect(found[0]?.path).toBe(tree.at("repo/deep/er/.reins/skills/one"));
});

test("outside of a repository only the work dir and home are looked at", () => {
  using tree = openTree({
    "plain/.claude/skills/above/SKILL.md": skill("above", "no"),
    "plain/work/.claude/skills/here/SKILL.md": skill("here", "yes"),
  });
  const found = findSkills({ ...tree.search, work_dir: tree.at("plain/work") });
  expect(found.map(({ name }) => name)).toEqual(["here"]);
});

test("folders that are named are skills or hold some", () => {
  using tree = openTree({
    "repo/deep/er/mine/SKILL.md": skill("mine", "one"),
    "home/lots/a/SKILL.md": skill("a", "many"),
    "home/lots/b/SKILL.md": skill("b", "many"),
    "home/.claude/skills/usual/SKILL.md": skill("usual", "no"),
  });
  const found = findSkills({ ...tree.search, config: ["mine", "~/lots", "missing"] });
  expect(found.map(({ name }) => name)).toEqual(["mine", "a", "b"]);
});

test("a skill without a name is called as its folder, and one that is damaged is skipped and said", () => {
  const place = "repo/.claude/skills";
  using tree = openTree({
    [`${place}/bare/SKILL.md`]: "just text",
    [`${place}/broken/SKILL.md`]: "---\nname: [\n---\n",
    [`${place}/bomb/SKILL.md`]: "---\na: &a [x]\nb: [*a, *a]\n---\n",
    [`${place}/wrong/SKILL.md`]: "---\nname: ../up\n---\n",
    [`${place}/empty/readme.md`]: "no skill",
    [`${place}/windows/SKILL.md`]: skill("windows", "fine").replaceAll("\n", "\r\n"),
    [`${place}/long/SKILL.md`]: skill("long", "x".repeat(5000)),
    [`${place}/file`]: "not a folder",
  });
  const said: unknown[] = [];
  const log = { ...silentLogger, warn: (_text: string, fields?: object) => void said.push(fields) };
  const found = findSkills({ ...tree.search, log });
  expect(found.map(({ name, description }) => [name, description.length])).toEqual([
    ["bare", 0],
    ["long", 1024],
    ["windows", 4],
  ]);
  expect(said).toHaveLength(3);
});

test("a link in a work tree does not make a folder outside of it a skill", () => {
  using tree = openTree({ "outside/SKILL.md": skill("outside", "no"), secret: "secret" });
  mkdirSync(tree.at("repo/.claude/skills/file"), { recursive: true });
  symlinkSync(tree.at("outside"), tree.at("repo/.claude/skills/folder"));
  symlinkSync(tree.at("secret"), tree.at("repo/.claude/skills/file/SKILL.md"));
  expect(findSkills(tree.search)).toEqual([]);
  mkdirSync(tree.at("home/.claude/skills"), { recursive: true });
  symlinkSync(tree.at("outside"), tree.at("home/.claude/skills/mine"));
  expect(findSkills(tree.search).map(({ name }) => name)).toEqual(["outside"]);
});

test("a skill is read on demand, with the files of its folder and nothing else", async () => {
  const place = "repo/.claude/skills/pdf";
  using tree = openTree({
    [`${place}/SKILL.md`]: skill("pdf", "Makes PDFs."),
    [`${place}/ref/forms.md`]: "fill in",
    "repo/.claude/skills/other/SKILL.md": skill("other", "x"),
    secret: "secret",
  });
  symlinkSync(tree.at("secret"), tree.at(`${place}/link`));
  const toolset = createSkillsToolset(tree.search);
  expect(toolset.skills().map(({ name }) => name)).toEqual(["other", "pdf"]);
  expect(toolset.instruction).toContain("- pdf: Makes PDFs.");
  const call = callerOf(toolset);
  const read = async (input: Record<string, unknown>) => (await call("read_skill", input)).output;
  expect(await read({ name: "pdf" })).toMatch(
    /# pdf\nDo it well\.\n\n\[folder: .*pdf\]\n\[files:\nSKILL\.md\nlink\nref\/\nref\/forms\.md\]$/,
  );
  tree.write(`${place}/SKILL.md`, "changed");
  expect(await read({ name: "pdf" })).toContain("changed");
  expect(await read({ name: "pdf", file: "ref/forms.md" })).toBe("fill in");
  for (const file of ["../other/SKILL.md", tree.at("secret"), "link", "~/../secret"])
    expect(await read({ name: "pdf", file }), file).toMatch(/^(forbidden|invalid_request): /);
  expect(await read({ name: "doc" })).toBe("there is no skill doc; there are other, pdf");
});

test("without skills there is no tool and no instruction", () => {
  using tree = openTree();
  const toolset = createSkillsToolset(tree.search);
  expect(toolset.tools()).toEqual([]);
  expect(toolset.instruction).toBeUndefined();
});
