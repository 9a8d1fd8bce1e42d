import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { isErrno, messageOf } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";

/** Of one file; the rest is left out, and said. */
export const PROMPT_FILE_BYTES = 64 * 1024;
const LEVELS_UP = 64;

export interface PromptFile {
  readonly path: string;
  readonly text: string;
}

interface FoundPromptFiles {
  readonly files: readonly PromptFile[];
  /** Files that are not there, cannot be read or are too long. */
  readonly warnings: readonly string[];
}

interface PromptFilesPlace {
  readonly work_dir: string;
  readonly home: string | undefined;
}

/**
 * Reads an agent's prompt files. A relative name is the nearest file of that name from the work dir upwards, and the one
 * in the home as well: what is true everywhere first, what is true here last.
 */
export async function readPromptFiles(
  names: readonly string[],
  { work_dir, home }: PromptFilesPlace,
): Promise<FoundPromptFiles> {
  const files = new Map<string, PromptFile>();
  const warnings = new Set<string>();
  for (const name of names) {
    const read = await readFirsts(listPlaces(name, { work_dir, home }), warnings);
    if (read.length === 0) warnings.add(`the prompt file ${name} is not there`);
    for (const file of read) files.set(file.path, file);
  }
  return { files: [...files.values()], warnings: [...warnings] };
}

/** Files that a request names have to be there, before anything is started; a team's own are only warned of. */
export async function checkPromptFiles(
  names: readonly string[],
  { field = "prompt_files", ...where }: PromptFilesPlace & { readonly field?: string },
): Promise<void> {
  for (const name of names) {
    const { files, warnings } = await readPromptFiles([name], where);
    if (files.length > 0) continue;
    const why = warnings[0] ?? `the prompt file ${name} is not there`;
    throw new Fault("invalid_request", `${field}: ${why}`, { details: { field, path: name } });
  }
}

/** Of each list the first that is there. */
function listPlaces(
  name: string,
  { work_dir, home }: PromptFilesPlace,
): readonly (readonly string[])[] {
  if (name === "~" || name.startsWith("~/"))
    return home === undefined ? [] : [[join(home, name.slice(1))]];
  if (isAbsolute(name)) return [[name]];
  const upwards: string[] = [];
  for (let dir = work_dir; upwards.length < LEVELS_UP; dir = dirname(dir)) {
    upwards.push(join(dir, name));
    if (dir === dirname(dir)) break;
  }
  return home === undefined ? [upwards] : [[join(home, name)], upwards];
}

async function readFirsts(
  places: readonly (readonly string[])[],
  warnings: Set<string>,
): Promise<PromptFile[]> {
  const found: PromptFile[] = [];
  for (const candidates of places) {
    for (const path of candidates) {
      const file = await readBounded(path, warnings);
      if (file === undefined) continue;
      found.push(file);
      break;
    }
  }
  return found;
}

async function readBounded(path: string, warnings: Set<string>): Promise<PromptFile | undefined> {
  try {
    // Opening a pipe must not wait for who writes to it.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) return undefined;
    const { text, isWhole } = await readStart(file);
    if (!isWhole)
      warnings.add(`the prompt file ${path} is cut: it is longer than ${PROMPT_FILE_BYTES} bytes`);
    return { path: await realpath(path), text };
  } catch (error) {
    if (!isErrno(error, "ENOENT", "ENOTDIR", "ENXIO"))
      warnings.add(`the prompt file ${path} cannot be read: ${messageOf(error)}`);
    return undefined;
  }
}

async function readStart(file: FileHandle): Promise<{ text: string; isWhole: boolean }> {
  const bytes = Buffer.alloc(PROMPT_FILE_BYTES + 1);
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  const isWhole = filled <= PROMPT_FILE_BYTES;
  // A character that the cut went through is left out, not shown as a broken one.
  const text = new TextDecoder().decode(bytes.subarray(0, Math.min(filled, PROMPT_FILE_BYTES)), {
    stream: !isWhole,
  });
  return { text, isWhole };
}
