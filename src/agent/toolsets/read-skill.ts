import * as z from "zod";
import { cutText, type DefinedTool, defineTool, failed, reads } from "#agent/define-tool.ts";
import { createFileScope } from "#agent/files/file-scope.ts";
import { findPaths } from "#agent/files/find-files.ts";
import { readFile } from "#agent/files/read-file.ts";
import type { ToolContext, ToolOutcome, Toolset } from "#agent/toolset.ts";
import type { SkillCard } from "#contract/agent/views.ts";
import { limits } from "#contract/limits.ts";
import { createFixedToolset } from "./fixed-toolset.ts";
import { findSkills, SKILL_FILE, type SkillSearch } from "./skills.ts";

/** Each model call carries the list. */
const LISTED_BYTES = 32 * 1024;

const ReadSkill = z.strictObject({
  name: z.string().min(1).max(limits.name_chars).describe("The skill, as the list calls it."),
  file: z
    .string()
    .min(1)
    .max(limits.path_bytes)
    .optional()
    .describe("A file of the skill's folder that its text names; absent: the skill itself."),
  offset: z.int().min(1).optional().describe("The first line to show, when there was more."),
});
type ReadSkill = z.output<typeof ReadSkill>;

/** Instructions for special work, which lie in folders and are read when they are needed. */
export function createSkillsToolset(search: SkillSearch): Toolset {
  const skills = findSkills(search);
  const config = { name: "skills", tools: undefined, instruction: describeSkills(skills) };
  const tools = skills.length === 0 ? [] : [createReadSkill(skills)];
  return createFixedToolset(config, { kind: "skills", skills, tools });
}

function describeSkills(skills: readonly SkillCard[]): string | undefined {
  if (skills.length === 0) return undefined;
  const lines = skills.map(({ name, description }) => `- ${name}: ${description}`);
  return `Skills are instructions for special work. When one of these fits the task, read it with read_skill before you begin:\n${cutText(lines.join("\n"), LISTED_BYTES)}`;
}

function createReadSkill(skills: readonly SkillCard[]): DefinedTool {
  return defineTool({
    name: "read_skill",
    description:
      "Read a skill: instructions for a special kind of work, and the files that belong to it. Use it before you begin work that one of the listed skills is about, and follow what it says.",
    input: ReadSkill,
    hints: reads,
    run: (input, context) => {
      const skill = skills.find(({ name }) => name === input.name);
      if (skill !== undefined) return read(skill, input, context);
      const names = skills.map(({ name }) => name).join(", ");
      return failed(`there is no skill ${input.name}; there are ${names}`);
    },
  });
}

async function read(
  { path }: SkillCard,
  { file, offset }: ReadSkill,
  { signal }: ToolContext,
): Promise<ToolOutcome | string> {
  const scope = createFileScope({ work_dir: path, allow_paths: [], home: path });
  const shown = readFile(scope, file ?? SKILL_FILE, { offset });
  if (file !== undefined || typeof shown !== "string") return shown;
  const files = await findPaths(scope, "**/*", { path: ".", signal });
  return `${shown}\n\n[folder: ${path}]\n[files:\n${files}]`;
}
