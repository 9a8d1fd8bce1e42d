import { closeSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parse as parseYaml } from "yaml";
import * as z from "zod";
import { decodeText, readBytes } from "#agent/files/file-content.ts";
import { createFileScope, openPlace } from "#agent/files/file-scope.ts";
import { messageOf } from "#base/errno.ts";
import type { Logger } from "#base/logger.ts";
import type { SkillCard } from "#contract/agent/views.ts";

/** Where people keep skills, in the work tree and at home. */
const FOLDERS = [".reins/skills", ".claude/skills", ".agents/skills"];
export const SKILL_FILE = "SKILL.md";
const SKILLS = 200;
/** Folders that are looked into for skills, in one place. */
const CANDIDATES = 1000;
const HEAD_BYTES = 64 * 1024;
const DESCRIPTION_CHARS = 1024;
const PARENTS = 100;

const FrontMatter = z.looseObject({
  name: z
    .string()
    .regex(/^[\w][\w .:-]{0,63}$/)
    .optional(),
  description: z.string().optional(),
});

export interface SkillSearch {
  /** True = the usual folders; a list = these, each a skill or a folder of skills. */
  readonly config: true | readonly string[];
  readonly work_dir: string;
  readonly home: string;
  readonly log: Logger;
}

/** A skill is a folder with a SKILL.md; of two with the same name the nearer one counts. */
export function findSkills({ config, work_dir, home, log }: SkillSearch): SkillCard[] {
  const places = config === true ? listPlaces(work_dir, home) : listNamed(config, work_dir, home);
  const found = new Map<string, SkillCard>();
  for (const place of places) {
    for (const folder of listFolders(place)) {
      const card = readCard(folder, log);
      if (card !== undefined && !found.has(card.name)) found.set(card.name, card);
      if (found.size >= SKILLS) return [...found.values()];
    }
  }
  return [...found.values()];
}

interface SkillPlace {
  readonly path: string;
  /** Links must stay inside: a work tree may be somebody else's. */
  readonly within: string | undefined;
  readonly mayBeSkill: boolean;
}

/** From the work dir up to the root of its repository, then home. */
function listPlaces(work_dir: string, home: string): SkillPlace[] {
  const parents = listParents(resolve(work_dir));
  const top = parents.findIndex((folder) => exists(join(folder, ".git")));
  // Outside of a repository only the work dir itself is looked at.
  const tree = top < 0 ? parents.slice(0, 1) : parents.slice(0, top + 1);
  const within = tree.at(-1);
  return [
    ...tree.flatMap((folder) =>
      FOLDERS.map((name) => ({ path: join(folder, name), within, mayBeSkill: false })),
    ),
    ...FOLDERS.map((name) => ({ path: join(home, name), within: undefined, mayBeSkill: false })),
  ];
}

function listNamed(paths: readonly string[], work_dir: string, home: string): SkillPlace[] {
  return paths.map((path) => ({
    path: resolve(work_dir, /^~(?=\/|$)/.test(path) ? join(home, path.slice(1)) : path),
    within: undefined,
    mayBeSkill: true,
  }));
}

function listParents(folder: string): string[] {
  const parents: string[] = [];
  for (let at = folder; parents.length < PARENTS; at = dirname(at)) {
    parents.push(at);
    if (dirname(at) === at) break;
  }
  return parents;
}

function listFolders({ path, within, mayBeSkill }: SkillPlace): string[] {
  if (mayBeSkill && exists(join(path, SKILL_FILE))) return keepInside([path], within);
  const names = readNames(path).sort().slice(0, CANDIDATES);
  const folders = names.map((name) => join(path, name));
  return keepInside(
    folders.filter((folder) => exists(join(folder, SKILL_FILE))),
    within,
  );
}

function keepInside(folders: readonly string[], within: string | undefined): string[] {
  const real = folders.map(findReal).filter((folder) => folder !== undefined);
  if (within === undefined) return real;
  const top = `${findReal(within)}/`;
  return real.filter((folder) => folder.startsWith(top));
}

function findReal(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // Gone, or not for us.
    return undefined;
  }
}

function readNames(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    // Most of the places do not exist.
    return [];
  }
}

function exists(path: string): boolean {
  return findReal(path) !== undefined;
}

function readCard(folder: string, log: Logger): SkillCard | undefined {
  try {
    const { name, description = "" } = FrontMatter.parse(parseFrontMatter(readHead(folder)));
    return {
      name: name ?? basename(folder),
      description: description.trim().replace(/\s+/g, " ").slice(0, DESCRIPTION_CHARS),
      path: folder,
    };
  } catch (error) {
    log.warn("a skill was skipped", { path: folder, problem: messageOf(error) });
    return undefined;
  }
}

function readHead(folder: string): string {
  const scope = createFileScope({ work_dir: folder, allow_paths: [], home: folder });
  const place = openPlace(scope, SKILL_FILE);
  using holder = place.folder;
  const fd = holder.openFile(place.name, SKILL_FILE);
  try {
    const text = decodeText(readBytes(fd, { from: 0, length: HEAD_BYTES }));
    if (text === undefined) throw new Error("it is no UTF-8 text");
    return text;
  } finally {
    closeSync(fd);
  }
}

/** YAML between two lines of `---` at the very beginning. */
function parseFrontMatter(text: string): unknown {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const end = lines.indexOf("---", 1);
  if (lines[0] !== "---" || end < 0) return {};
  return parseYaml(lines.slice(1, end).join("\n"), { maxAliasCount: 0 }) ?? {};
}
