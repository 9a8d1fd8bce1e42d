import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { errnoOf } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";

/** A character has at most this many bytes. */
const FILE_BYTES = 4 * limits.team_chars;

/** Which files may be teams: `*` = any that we can read. */
export type TeamRoots = readonly string[] | "*";

/**
 * The real path of a file that may be read. What lies outside is refused in the same words whether or not it is there,
 * so that nobody asks this way what else the machine has.
 */
export function findTeamFile(path: string, roots: TeamRoots): string {
  const real = findReal(path);
  if (roots === "*") {
    if (real === undefined) throw noSuchFile(path);
    return real;
  }
  const folders = roots.flatMap((root) => findReal(root) ?? []);
  if (real !== undefined && folders.some((folder) => isWithin(folder, real))) return real;
  // A name below a root that leads nowhere is a mistake, not a way out.
  if (real === undefined && [...roots, ...folders].some((root) => isWithin(root, path)))
    throw noSuchFile(path);
  throw new Fault(
    "forbidden",
    `${path} lies outside the folders that this server takes teams from; see team_roots in its config.yaml`,
    { details: { path } },
  );
}

/** Reads plain files alone: nobody waits for a pipe. */
export function readTeamFile(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = fstatSync(file);
    if (!found.isFile()) throw new Fault("team_invalid", `${path}: this is no plain file`);
    if (found.size > FILE_BYTES) throw tooLarge(path);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Fault) throw error;
    if (errnoOf(error) === "ENOENT") throw noSuchFile(path);
    throw new Fault("team_not_found", `${path} cannot be read: ${errnoOf(error) ?? error}`, {
      details: { path },
      cause: error,
    });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function findReal(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // Not there, or not for us: both are nothing that could be read.
    return undefined;
  }
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function noSuchFile(path: string): Fault {
  return new Fault("team_not_found", `there is no team file ${path}`, { details: { path } });
}

function tooLarge(path: string): Fault {
  return new Fault("team_invalid", `${path}: a team has at most ${limits.team_chars} characters`, {
    details: { file: path, limit: limits.team_chars },
  });
}
