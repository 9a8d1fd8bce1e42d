import { lstatSync, readFileSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isErrno, messageOf } from "#base/errno.ts";
import { quoteIfNeeded } from "#base/shell-quote.ts";
import { assertOwnFolder, DATA_FORMAT } from "#host/data-dir.ts";
import { type Finding, failed, fine, note } from "./finding.ts";
import type { World } from "./world.ts";

const OTHERS = 0o077;
const NAME = "data_dir";

/** Looks only: what the other commands would repair by themselves is still worth saying. */
export function checkDataDir({ dir: { path, sessions }, uid, isWritable }: World): Finding {
  const found = statSync(findExisting(path));
  if (!found.isDirectory())
    return failed(
      NAME,
      `${findExisting(path)} is a file where a folder should be.`,
      "Move it away, or name another data directory in REINS_HOME.",
    );
  const isThere = findExisting(path) === path;
  if (isThere && uid !== undefined && found.uid !== uid)
    return failed(
      NAME,
      `${path} belongs to user ${found.uid}, and you are user ${uid}.`,
      `Run reins as its owner, or: chown -R ${uid} ${quoteIfNeeded(path)}`,
    );
  if (!isWritable(findExisting(path)))
    return failed(
      NAME,
      `${findExisting(path)} may not be written to.`,
      "Change its permissions, or name another data directory in REINS_HOME.",
    );
  if (!isThere) return note(NAME, `${path} is not there yet; the first session makes it.`);
  return (
    findOpenFolder([path, sessions]) ??
    findNewerFormat(path) ??
    fine(NAME, `${path} is private and yours.`)
  );
}

function findOpenFolder(folders: readonly string[]): Finding | undefined {
  const open = folders.find((folder) => isOpen(folder));
  if (open === undefined) return undefined;
  return failed(NAME, `${open} can be entered by other users.`, `chmod 700 ${quoteIfNeeded(open)}`);
}

/** Of the folder itself: the data directory may be a link to another disk, and links have no permissions. */
function isOpen(folder: string): boolean {
  return ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS) !== 0;
}

function findNewerFormat(path: string): Finding | undefined {
  const text = readFormat(join(path, "format"));
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text.trim()))
    return failed(
      NAME,
      `${join(path, "format")} is damaged: it does not hold a number.`,
      `If this Reins wrote the data: echo ${DATA_FORMAT} > ${quoteIfNeeded(join(path, "format"))}`,
    );
  if (Number(text) <= DATA_FORMAT) return undefined;
  return failed(
    NAME,
    `${path} was written by a newer Reins (format ${text.trim()}; this one reads ${DATA_FORMAT}).`,
    "Install the newer Reins, or name another data directory in REINS_HOME.",
  );
}

function readFormat(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** A path that is too long for the kernel is no failure: a short one in a folder of the user's own is taken. */
export function checkSocket({ dir }: World): Finding {
  const name = "socket";
  const folder = dirname(dir.socket);
  const found = findStats(dir.socket);
  if (found !== undefined && !found.isSocket())
    return failed(name, `${dir.socket} is not a socket.`, `rm ${quoteIfNeeded(dir.socket)}`);
  if (found !== undefined && (found.mode & OTHERS) !== 0)
    return failed(
      name,
      `${dir.socket} can be used by other users.`,
      `chmod 600 ${quoteIfNeeded(dir.socket)}`,
    );
  if (folder === dir.path) return fine(name, `${dir.socket} is short enough for a socket.`);
  try {
    if (findStats(folder) !== undefined) assertOwnFolder(folder);
  } catch (error) {
    return failed(
      name,
      `${messageOf(error)}.`,
      `Name a shorter data directory in REINS_HOME, or remove ${folder}.`,
    );
  }
  return note(name, `${dir.path} is too long for a socket, which is ${dir.socket} instead.`);
}

export function checkToken({ dir, uid }: World): Finding {
  const name = "token";
  const path = join(dir.path, "token");
  const found = findStats(path);
  if (found === undefined)
    return note(name, "There is no administrator's token yet; reins serve makes it.");
  if (!found.isFile() || (uid !== undefined && found.uid !== uid))
    return failed(
      name,
      `${path} is not a file of yours, so its token is not trusted.`,
      `rm ${quoteIfNeeded(path)}; reins serve makes another.`,
    );
  if ((found.mode & OTHERS) !== 0)
    return failed(
      name,
      `${path} can be read by other users, who may know the token by now.`,
      `rm ${quoteIfNeeded(path)}; reins serve makes another, and the old one is valid no more.`,
    );
  return fine(name, `${path} is private.`);
}

/** The path, or the nearest folder above it that is there. */
export function findExisting(path: string): string {
  let existing = path;
  while (findStats(existing) === undefined && dirname(existing) !== existing)
    existing = dirname(existing);
  return existing;
}

function findStats(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // Below a file, or below a folder that is not ours to look into.
    if (isErrno(error, "ENOTDIR", "EACCES")) return undefined;
    throw error;
  }
}
