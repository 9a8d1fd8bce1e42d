import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isErrno } from "#base/errno.ts";

/**
 * One cgroup (v2) a session where they may be made: whatever a session starts is in it, however it forks, and one
 * write ends it all. The child joins before exec, by a shell that execs the program; joined from outside, a
 * program that forks at once would be missed.
 */
export interface Cgroup {
  /** Written to by whoever joins. */
  readonly procs: string;
  /** Kills everything in it; false when that could not be asked. */
  kill(): boolean;
  pids(): readonly number[];
  /** Removes it if it is empty. */
  remove(): void;
}

/** How many of the folders left over are tried at each new one. */
const LEFT_TRIES = 8;
const HOST_FOLDER = /^reins\.(\d+)$/;
const SESSION_PATH = /^(.*)\/reins\.\d+\/[^/]+$/;

export class Cgroups implements Disposable {
  readonly #folder: string;
  /** Folders that somebody still lived in when they were to be removed. */
  readonly #left = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
    // Of the program that was in this process before; those of sessions that go on are adopted.
    for (const name of listFolder(folder)) this.#left.add(join(folder, name));
  }

  open(name: string): Cgroup {
    for (const left of [...this.#left].slice(0, LEFT_TRIES)) this.#remove(left);
    const folder = join(this.#folder, name);
    mkdirSync(folder);
    return this.#describe(folder);
  }

  /** One that the program before us has opened. */
  adopt(name: string): Cgroup {
    const folder = join(this.#folder, name);
    this.#left.delete(folder);
    return this.#describe(folder);
  }

  [Symbol.dispose](): void {
    removeFolder(this.#folder);
  }

  #describe(folder: string): Cgroup {
    const procs = join(folder, "cgroup.procs");
    return {
      procs,
      kill: () => tryWrite(join(folder, "cgroup.kill"), "1"),
      pids: () => readPids(folder),
      remove: () => this.#remove(folder),
    };
  }

  #remove(folder: string): void {
    // To the end of the line, so that those who live for ever do not keep the others from their turn.
    this.#left.delete(folder);
    if (!removeFolder(folder)) this.#left.add(folder);
  }
}

/** Undefined where no cgroup can be made: no v2 hierarchy, or not ours to write to. */
export function openCgroups(pid = process.pid): Cgroups | undefined {
  const base = findOwnCgroup();
  if (base === undefined) return undefined;
  sweep(base);
  const folder = join(base, `reins.${pid}`);
  try {
    mkdirSync(folder);
    return new Cgroups(folder);
  } catch (error) {
    return isErrno(error, "EEXIST") ? new Cgroups(folder) : undefined;
  }
}

/** A host started inside a session of another host must not end with that session. */
export function leaveSessionCgroup(): void {
  const mount = findMount();
  const outer = SESSION_PATH.exec(readOwnPath() ?? "")?.[1];
  if (mount !== undefined && outer !== undefined)
    tryWrite(join(mount, outer, "cgroup.procs"), String(process.pid));
}

/** Ends what is in cgroups of these sessions, whichever host made them; for sessions whose host died. */
export function killSessionCgroups(sessionIds: ReadonlySet<string>): void {
  const base = findOwnCgroup();
  if (base === undefined) return;
  for (const host of listFolder(base).filter((name) => HOST_FOLDER.test(name))) {
    for (const session of listFolder(join(base, host)).filter((name) => sessionIds.has(name))) {
      tryWrite(join(base, host, session, "cgroup.kill"), "1");
    }
  }
}

/** The folder of the cgroup that this process is in. */
export function findOwnCgroup(): string | undefined {
  const mount = findMount();
  const path = readOwnPath();
  return mount === undefined || path === undefined ? undefined : join(mount, path);
}

function findMount(): string | undefined {
  for (const line of readLines("/proc/self/mountinfo")) {
    const [before = "", after = ""] = line.split(" - ");
    if (after.startsWith("cgroup2 ")) return before.split(" ")[4];
  }
  return undefined;
}

function readOwnPath(): string | undefined {
  return readLines("/proc/self/cgroup")
    .find((line) => line.startsWith("0::"))
    ?.slice("0::".length);
}

/** Folders of hosts that died. What still runs in them is left to the host that finds their sessions. */
function sweep(base: string): void {
  for (const name of listFolder(base)) {
    const owner = HOST_FOLDER.exec(name)?.[1];
    if (owner !== undefined && Number(owner) !== process.pid && !isRunning(Number(owner)))
      removeFolder(join(base, name));
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isErrno(error, "EPERM");
  }
}

/** Only empty cgroups can be removed; false for those that are not. */
function removeFolder(folder: string): boolean {
  for (const name of listFolder(folder)) removeFolder(join(folder, name));
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return isErrno(error, "ENOENT");
  }
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** The processes of the cgroup and of those that a member has made inside of it. */
function readPids(folder: string): readonly number[] {
  const own = readLines(join(folder, "cgroup.procs"))
    .filter((line) => line !== "")
    .map(Number);
  return [...own, ...listFolder(folder).flatMap((name) => readPids(join(folder, name)))];
}

function readLines(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    return [];
  }
}

function tryWrite(path: string, content: string): boolean {
  try {
    writeFileSync(path, content);
    return true;
  } catch {
    // Not there, or not ours.
    return false;
  }
}
