import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isErrno, messageOf } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";

/*
 * Where files may be touched. A path goes through three steps:
 *
 *   text ── resolve ──→ absolute ── realpath of what exists ──→ inside a root? ── open its folder ──→ still inside?
 *
 * The folder is then held open and everything happens below that descriptor, so a link that somebody swaps in after
 * the check is not followed: not in the folders above (the descriptor stays what it is), not as the file itself
 * (O_NOFOLLOW, and a rename replaces a link instead of writing through it).
 */

interface ScopeSetting {
  readonly work_dir: string;
  readonly allow_paths: readonly string[];
  readonly home: string;
}

export interface FileScope {
  /** Where a path leads, links followed; `forbidden` when that is outside. */
  locate(path: string): Located;
  /** The folder, held open. */
  openFolder(located: Located, path: string): Folder;
  /** As people would write it: from the work dir where that is shorter. */
  name(real: string): string;
}

interface Located {
  /** Real path of what exists of it, then the names that do not exist yet. */
  readonly real: string;
  readonly root: string;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Where a descriptor has no path to go through, the path is checked again instead. */
const DESCRIPTORS = existsSync("/proc/self/fd") ? "/proc/self/fd" : undefined;

export function createFileScope({ work_dir, allow_paths, home }: ScopeSetting): FileScope {
  const expand = (path: string) =>
    resolve(work_dir, path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path);
  // Looked up each time: a folder that is allowed may be made later.
  const roots = () => [work_dir, ...allow_paths.map(expand)].map((root) => followLinks(root));
  return {
    locate(path) {
      if (path.includes("\0")) throw refused("a path has no NUL in it");
      const real = followLinks(expand(path));
      const root = roots().find((candidate) => isInside(candidate, real));
      if (root !== undefined) return { real, root };
      throw new Fault("forbidden", `${path} is outside of ${roots().join(", ")}`, {
        details: { path },
      });
    },
    openFolder: ({ real, root }, path) => openFolderAt(real, root, path),
    name(real) {
      const short = relative(followLinks(work_dir), real);
      if (short === "") return ".";
      return short.startsWith("..") || isAbsolute(short) ? real : short;
    },
  };
}

/** A folder that is held open. */
export class Folder implements Disposable {
  readonly #fd: number;
  readonly #path: string;

  constructor(fd: number, path: string) {
    this.#fd = fd;
    this.#path = path;
  }

  /** A way to a name in it that no link above it can bend. */
  at(name: string): string {
    return join(DESCRIPTORS === undefined ? this.#path : `${DESCRIPTORS}/${this.#fd}`, name);
  }

  /** Its own listing. */
  get listing(): string {
    return this.at(".");
  }

  /** A folder in it, never through a link. */
  enter(name: string): Folder {
    return new Folder(openFolderFd(this.at(name), name), join(this.#path, name));
  }

  /** The same, made when it is not there. */
  make(name: string): Folder {
    try {
      mkdirSync(this.at(name));
    } catch (error) {
      // Somebody else was first.
      if (!isErrno(error, "EEXIST")) throw error;
    }
    return this.enter(name);
  }

  /** A regular file in it, never through a link. */
  openFile(name: string, path: string): number {
    // Without waiting: a pipe that nobody writes to would keep us.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const fd = openOr(() => openSync(this.at(name), flags), path);
    if (fstatSync(fd).isFile()) return fd;
    const what = fstatSync(fd).isDirectory() ? "a directory" : "no regular file";
    closeSync(fd);
    throw refused(`${path} is ${what}`);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

function openFolderAt(real: string, root: string, path: string): Folder {
  using stack = new DisposableStack();
  const fd = openFolderFd(real, path);
  const folder = stack.use(new Folder(fd, real));
  if (!isInside(root, pathOf(fd, real)))
    throw new Fault("forbidden", `${path} was moved outside while it was opened`);
  stack.move();
  return folder;
}

export interface Place {
  /** Held open; whoever asked for the place disposes it. */
  readonly folder: Folder;
  readonly name: string;
  readonly real: string;
}

/** The folder of a file and its name in there. With `make`, folders that are missing are made. */
export function openPlace(
  scope: FileScope,
  path: string,
  { make = false }: { readonly make?: boolean } = {},
): Place {
  const located = scope.locate(path);
  const { real } = located;
  // A file that is allowed by itself is the only thing of its folder that is.
  const root = real === located.root ? dirname(real) : located.root;
  const missing: string[] = [];
  let parent = dirname(real);
  while (make && parent !== root && lstatSync(parent, { throwIfNoEntry: false }) === undefined) {
    missing.unshift(basename(parent));
    parent = dirname(parent);
  }
  let folder = openFolderAt(parent, root, path);
  for (const name of missing) {
    using above = folder;
    folder = openOr(() => above.make(name), path);
  }
  return { folder, name: basename(real), real };
}

/** What the system refuses, as a sentence about the path that was given. */
export function openOr<T>(work: () => T, path: string): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw asRefusal(error, path);
  }
}

export function refused(message: string): Fault {
  return new Fault("invalid_request", message);
}

function asRefusal(error: unknown, path: string): unknown {
  const options = { details: { path }, cause: error };
  if (isErrno(error, "ENOENT"))
    return new Fault("invalid_request", `${path} does not exist`, options);
  if (isErrno(error, "ENOTDIR"))
    return new Fault(
      "invalid_request",
      `${path} is not a directory, or something above it is none`,
      options,
    );
  if (isErrno(error, "ELOOP", "EMLINK"))
    return new Fault("forbidden", `${path} leads through a link that cannot be followed`, options);
  if (isErrno(error, "EACCES", "EPERM", "EROFS"))
    return new Fault("forbidden", `${path}: the system does not permit that`, options);
  if (isErrno(error, "ENOSPC", "EDQUOT"))
    return new Fault("disk_full", `there is no room left on the disk for ${path}`, options);
  if (isErrno(error, "ENAMETOOLONG", "EISDIR", "ENXIO", "EINVAL"))
    return new Fault("invalid_request", `${path}: ${messageOf(error)}`, options);
  return error;
}

function openFolderFd(path: string, said: string): number {
  return openOr(() => openSync(path, FOLDER), said);
}

/** Where a descriptor really is. Without /proc: where its path leads now, if that is still the same folder. */
function pathOf(fd: number, path: string): string {
  if (DESCRIPTORS !== undefined) return readlinkSync(`${DESCRIPTORS}/${fd}`);
  const real = realpathSync(path);
  const [held, found] = [fstatSync(fd), lstatSync(real)];
  return held.ino === found.ino && held.dev === found.dev ? real : sep;
}

/** The real path; of what does not exist, that of the nearest folder that does, and the rest as it is. */
function followLinks(path: string): string {
  const rest: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const real = findReal(at);
    if (real !== undefined) return join(real, ...rest);
    rest.unshift(basename(at));
  }
}

function findReal(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    // A link to nothing is not "nothing": what is made there is made elsewhere.
    if (isErrno(error, "ENOENT") && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new Fault("forbidden", `${path} is a link to something that does not exist`);
    if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    throw asRefusal(error, path);
  }
}

function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root === sep ? sep : `${root}${sep}`);
}
