import type { Dirent } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, normalize } from "node:path";
import { errnoOf } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { OperationInput, OperationOutput, Operations } from "#contract/operations.ts";
import type { Where } from "./caller.ts";

type Request = OperationInput<"directory.list">;

/** Of a directory that are looked at; whoever has more types more of the name. */
const ENTRIES_READ = 20_000;

/** Typing help, for who may run commands in any directory anyway. */
export function createDirectoryOperations({
  work_dir,
}: Pick<Where, "work_dir">): Pick<Operations, "directory.list"> {
  return { "directory.list": (request) => listDirectories(work_dir, request) };
}

async function listDirectories(
  workDir: string,
  { path: typed = "", limit = limits.directories_listed, hidden = false }: Request,
): Promise<OperationOutput<"directory.list">> {
  const { path, start } = splitTyped(workDir, typed);
  const isWanted = (name: string) =>
    name.startsWith(start) && (hidden || start.startsWith(".") || !name.startsWith("."));
  const { names, isWhole } = await readDirectories(path, isWanted);
  const sorted = names.toSorted();
  const truncated = !isWhole || sorted.length > limit;
  return { path, names: sorted.slice(0, limit), truncated };
}

/** Behind the last slash is the beginning of a name. */
function splitTyped(workDir: string, typed: string): { path: string; start: string } {
  if (typed === "" || typed === "~") return { path: workDir, start: "" };
  const below = typed.startsWith("~/") ? typed.slice(2) : typed;
  const whole = isAbsolute(below) ? below : `${workDir}/${below}`;
  if (whole.endsWith("/")) return { path: withoutSlash(normalize(whole)), start: "" };
  const start = basename(whole);
  // Dots alone are a place and no name.
  if (start === "." || start === "..") return { path: withoutSlash(normalize(whole)), start: "" };
  return { path: withoutSlash(normalize(dirname(whole))), start };
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

async function readDirectories(path: string, isWanted: (name: string) => boolean) {
  const names: string[] = [];
  let seen = 0;
  try {
    for await (const entry of await opendir(path)) {
      seen += 1;
      if (seen > ENTRIES_READ) return { names, isWhole: false };
      if (isWanted(entry.name) && (await isDirectory(path, entry))) names.push(entry.name);
    }
  } catch (error) {
    throw unreadable(path, error);
  }
  return { names, isWhole: true };
}

async function isDirectory(path: string, entry: Dirent): Promise<boolean> {
  if (entry.isDirectory()) return true;
  if (!entry.isSymbolicLink()) return false;
  try {
    return (await stat(join(path, entry.name))).isDirectory();
  } catch {
    // A link that leads nowhere, or where we may not look.
    return false;
  }
}

function unreadable(path: string, error: unknown): Fault {
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: `there is no directory ${path}`,
    ENOTDIR: `${path} is no directory`,
    EACCES: `${path} may not be read by the user that serves`,
  };
  const code = errnoOf(error);
  const why = reasons[code ?? ""] ?? `${path} cannot be read: ${code ?? String(error)}`;
  return new Fault("invalid_request", `path: ${why}`, { details: { field: "path" }, cause: error });
}
