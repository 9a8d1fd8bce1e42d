import { createHash } from "node:crypto";
import { chmodSync, lstatSync, readFileSync, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { errnoOf, isErrno } from "#base/errno.ts";
import { makeFolders } from "#base/make-folders.ts";
import { Fault, findScarcity } from "#contract/fault.ts";
import { checkTrust } from "./trusted-files.ts";

/** Where everything of one host is. */
export interface DataDir {
  readonly path: string;
  readonly sessions: string;
  /** By which connections are known; see find-binding.ts. */
  readonly secrets: string;
  readonly socket: string;
  readonly lock: string;
  readonly hostLog: string;
}

export const DATA_FORMAT = 1;
/** The kernel's limit for a socket's path is 108 bytes on Linux and 104 on macOS, its end included. */
const SOCKET_PATH_BYTES = 103;
const SHOWN_CHARS = 40;

/** Where a user keeps everything who did not say where. */
export function chooseDataDir({
  REINS_HOME: home,
  XDG_STATE_HOME: state,
}: Readonly<Record<string, string | undefined>>): string {
  if (home !== undefined && home !== "") return resolve(home);
  // The specification has relative paths ignored.
  if (state !== undefined && isAbsolute(state)) return join(state, "reins");
  return join(findHome(), ".local", "state", "reins");
}

/** By HOME, or by the list of users where HOME says nothing. A relative path would be another directory for the host. */
function findHome(): string {
  const named = homedir();
  if (isAbsolute(named)) return named;
  const home = findUserHome();
  if (home !== undefined && isAbsolute(home)) return home;
  throw new Fault(
    "invalid_request",
    "HOME is not an absolute path and this user has no home directory; set REINS_HOME to the directory to keep data in",
  );
}

function findUserHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    // In a container the user may be a number that no list of users knows.
    return undefined;
  }
}

/** The names alone; touches nothing. */
export function locateDataDir(path: string): DataDir {
  return {
    path,
    sessions: join(path, "sessions"),
    secrets: join(path, "secrets"),
    socket: socketPath(path),
    lock: join(path, "host.lock"),
    hostLog: join(path, "host.log"),
  };
}

/** Makes the directory where it is missing, 0700, and refuses one of a newer version untouched. */
export function openDataDir(path: string): DataDir {
  const dir = locateDataDir(path);
  try {
    // Looked at before anything is read, made or changed in it.
    checkTrust(dir.path);
    checkFormat(dir.path);
    makePrivate(dir.path);
    makePrivate(dir.sessions);
    writeFormat(dir.path);
  } catch (error) {
    throw error instanceof Fault ? error : unusable(path, error);
  }
  if (dirname(dir.socket) !== dir.path) makePrivateElsewhere(dirname(dir.socket));
  return dir;
}

function makePrivate(path: string): void {
  makeFolders(path, 0o700);
  if (!statSync(path).isDirectory()) throw notDirectory(path);
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o700);
}

/** The reason why the system does not let us use the directory, as a sentence for people. */
export function unusable(path: string, error: unknown): Fault {
  return new Fault(
    findScarcity(error)?.code ?? "host_unavailable",
    `cannot use ${path} as the data directory: ${sentenceFor(error)}`,
    { details: { data_dir: path, errno: errnoOf(error) }, cause: error },
  );
}

function notDirectory(path: string): Error {
  return Object.assign(new Error(`ENOTDIR: not a directory: ${path}`), { code: "ENOTDIR" });
}

function sentenceFor(error: unknown): string {
  if (isErrno(error, "EEXIST", "ENOTDIR")) return "there is a file in its place";
  if (isErrno(error, "EACCES", "EPERM")) return "it may not be written to";
  if (isErrno(error, "ENOENT")) return "no directory can be made there";
  if (isErrno(error, "EROFS")) return "it is on a read-only file system";
  return findScarcity(error)?.message ?? String(error);
}

function checkFormat(path: string): void {
  const found = readFormat(join(path, "format"));
  if (found === undefined) return;
  if (typeof found === "string")
    throw new Fault(
      "unsupported",
      `${join(path, "format")} is damaged: it holds ${JSON.stringify(found)} instead of a number. If this Reins wrote the data, repair it with: echo ${DATA_FORMAT} > ${join(path, "format")}`,
      { details: { data_dir: path, format: found, known: DATA_FORMAT } },
    );
  if (found > DATA_FORMAT) {
    throw new Fault(
      "unsupported",
      `the data in ${path} was written by a newer Reins (format ${found}); this one reads format ${DATA_FORMAT} and leaves it untouched`,
      { details: { data_dir: path, format: found, known: DATA_FORMAT } },
    );
  }
}

function writeFormat(path: string): void {
  const file = join(path, "format");
  if (readFormat(file) === undefined) writeFileAtomic(file, `${DATA_FORMAT}\n`);
}

/** As it is where it is not a number. */
function readFormat(file: string): number | string | undefined {
  try {
    const text = readFileSync(file, "utf8").trim();
    return /^\d{1,9}$/.test(text) ? Number(text) : text.slice(0, SHOWN_CHARS);
  } catch (error) {
    // A file where the directory should be is said by who makes the directory.
    if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

/**
 * A path that is too long for a socket is replaced by a short one in a folder of this user's own. Not in TMPDIR,
 * which a client and the host may see differently.
 */
function socketPath(path: string): string {
  const direct = join(path, "host.sock");
  if (Buffer.byteLength(direct) <= SOCKET_PATH_BYTES) return direct;
  const name = createHash("sha256").update(path).digest("hex").slice(0, 16);
  return join("/tmp", `reins-${process.getuid?.() ?? 0}`, `${name}.sock`);
}

/** Somebody else could have made that folder first: it must be ours, private and no link. */
function makePrivateElsewhere(folder: string): void {
  makeFolders(folder, 0o700);
  assertOwnFolder(folder);
}

export function assertOwnFolder(folder: string): void {
  const found = lstatSync(folder);
  const isOurs =
    found.isDirectory() &&
    found.uid === (process.getuid?.() ?? found.uid) &&
    (found.mode & 0o077) === 0;
  if (isOurs) return;
  throw new Fault(
    "host_unavailable",
    `${folder} is not a private folder of yours, so no socket is trusted there`,
    {
      details: { folder },
    },
  );
}
