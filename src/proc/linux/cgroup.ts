import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isErrno } from "#base/errno.ts";

/**
 * One cgroup (v2) a session where they may be made: whatever a session starts is in it, however it forks, and one
 * write ends it all. The child joins before exec, by a shell that execs the program; joined from outside, a
 * program that forks at once would be missed.
 */
export interface Cgroup {
  /** argv of a program that joins and then execs what follows. */
  readonly joiner: readonly string[];
  /** Kills everything in it; false when that could not be asked. */
  kill(): boolean;
  pids(): readonly number[];
  /** Removes it if it is empty. */
  remove(): void;
}

const JOIN = 'echo 0 > "$0" 2>/dev/null; exec "$@"';
const HOST_FOLDER = /^reins\.(\d+)$/;
const SESSION_PATH = /^(.*)\/reins\.\d+\/[^/]+$/;

export class Cgroups implements Disposable {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  open(name: string): Cgroup {
    const folder = join(this.#folder, name);
    mkdirSync(folder);
    const procs = join(folder, "cgroup.procs");
    return {
      joiner: ["/bin/sh", "-c", JOIN, procs],
      kill: () => tryWrite(join(folder, "cgroup.kill"), "1"),
      pids: () => readPids(procs),
      remove: () => removeFolder(folder),
    };
  }

  [Symbol.dispose](): void {
    removeFolder(this.#folder);
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

function findOwnCgroup(): string | undefined {
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

/** Only empty cgroups can be removed; the others stay until they are. */
function removeFolder(folder: string): void {
  for (const name of listFolder(folder)) removeFolder(join(folder, name));
  try {
    rmdirSync(folder);
  } catch {
    // Still populated, or gone already.
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

function readPids(path: string): readonly number[] {
  return readLines(path)
    .filter((line) => line !== "")
    .map(Number);
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
