import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { isErrno } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import {
  commandFile,
  endMark,
  firstState,
  isVariable,
  RESTORE,
  RESTORE_FILE,
  SAVE,
  SAVE_FILE,
  STATE_FILE,
  stateFile,
} from "./bash-driver.ts";

/**
 * The files of one shell, 0600 in a folder of its own, 0700:
 *
 *   state            what the next run starts from
 *   environment      what bash itself is started with: PATH, to find it, and names that are no variables
 *   <run>.command    what a run was asked to do
 *   <run>.state      what it saved; becomes `state` when the run is over, by rename
 *   saved            the runs whose state was saved, for those who ask later
 *   restore-…, save-…  the bash side, see bash-driver.ts
 */
interface FirstState {
  readonly env: Readonly<Record<string, string>>;
  readonly umask: number | undefined;
  readonly work_dir: string;
}

/** More than the end of a state: a path and the lines around it. */
const END_BYTES = limits.path_bytes + 1024;
/** Runs that are remembered as saved, and the length of a line there. */
const SAVED_RUNS = 1000;
const SAVED_LINE_BYTES = 21;
const ENVIRONMENT_FILE = "environment";
const SAVED_FILE = "saved";

export class ShellFolder {
  readonly path: string;

  constructor(folder: string, shellId: string) {
    this.path = join(folder, shellId);
  }

  make({ env, umask, work_dir }: FirstState): void {
    const passed = Object.entries(env).filter(
      ([name]) => name === "PATH" || !(isVariable(name) || isRefused(name)),
    );
    asDiskFault(() => {
      mkdirSync(this.path, { recursive: true, mode: 0o700 });
      this.#write(ENVIRONMENT_FILE, JSON.stringify(Object.fromEntries(passed)));
      this.#write(STATE_FILE, firstState(env, { umask, work_dir }));
    });
  }

  /** What bash is started with; the rest of the environment is in the state. */
  environment(): Record<string, string> {
    if (!existsSync(this.#at(STATE_FILE))) {
      throw new Fault("spawn_failed", "the saved state of this shell is gone; make another shell", {
        details: { errno: "ENOENT" },
      });
    }
    // Written by `make`, nobody else's to change.
    return JSON.parse(readFileSync(this.#at(ENVIRONMENT_FILE), "utf8")) as Record<string, string>;
  }

  prepareRun(runId: string, command: string): void {
    asDiskFault(() => {
      this.#provide(RESTORE_FILE, RESTORE);
      this.#provide(SAVE_FILE, SAVE);
      this.#write(commandFile(runId), command);
      // Made here for its mode: the run's umask may be anything.
      this.#write(stateFile(runId), "");
    });
  }

  /** Where the shell was when the run saved its state; undefined when it saved none. */
  findSavedDir(runId: string): string | undefined {
    const end = readEnd(this.#at(stateFile(runId)));
    const last = `\n${runId}\n`;
    if (end === undefined || !end.endsWith(last)) return undefined;
    const mark = `${endMark(runId)}\n`;
    const from = end.lastIndexOf(mark);
    return from < 0 ? undefined : decode(end.slice(from + mark.length, -last.length));
  }

  /** The run's state is the shell's from now on. May be done twice, and by two at a time. */
  adopt(runId: string): void {
    // Remembered before the file goes, so that who asks finds one or the other.
    if (!this.wasSaved(runId)) this.#remember(runId);
    try {
      renameSync(this.#at(stateFile(runId)), this.#at(STATE_FILE));
    } catch (error) {
      // Somebody else has done it.
      if (!isErrno(error, "ENOENT")) throw error;
    }
    this.discard(runId);
  }

  discard(runId: string): void {
    rmSync(this.#at(stateFile(runId)), { force: true });
    rmSync(this.#at(commandFile(runId)), { force: true });
  }

  wasSaved(runId: string): boolean {
    return this.#saved().includes(runId);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 5 });
  }

  #saved(): string[] {
    try {
      return readFileSync(this.#at(SAVED_FILE), "latin1").split("\n").filter(Boolean);
    } catch (error) {
      if (isErrno(error, "ENOENT")) return [];
      throw error;
    }
  }

  #remember(runId: string): void {
    const file = this.#at(SAVED_FILE);
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > 2 * SAVED_RUNS * SAVED_LINE_BYTES)
      writeFileAtomic(file, `${this.#saved().slice(-SAVED_RUNS).join("\n")}\n`);
    appendFileSync(file, `${runId}\n`, { mode: 0o600 });
  }

  /** As a whole: one that is there is complete. */
  #provide(name: string, content: string): void {
    if (!existsSync(this.#at(name))) writeFileAtomic(this.#at(name), content);
  }

  #write(name: string, content: string): void {
    writeFileSync(this.#at(name), content, { mode: 0o600 });
  }

  #at(name: string): string {
    return join(this.path, name);
  }
}

/** The directory, or the nearest one above it that is still there. */
export function nearestDir(path: string): string {
  let dir = path;
  while (dir !== "/" && !isDir(dir)) dir = dirname(dir);
  return dir;
}

export function isDir(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Not there, or not ours to look at.
    return false;
  }
}

/** Neither a variable nor passed on: bash would take it for an order, or it is ours. */
function isRefused(name: string): boolean {
  return /^\w+$/.test(name) || name.startsWith("BASH_FUNC_") || name.startsWith("REINS_");
}

function readEnd(file: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(file, "r");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
  try {
    const { size } = fstatSync(fd);
    if (size > limits.shell_state_bytes) return undefined;
    const bytes = Buffer.alloc(Math.min(size, END_BYTES));
    const count = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("latin1", 0, count);
  } finally {
    closeSync(fd);
  }
}

function decode(latin1: string): string {
  return Buffer.from(latin1, "latin1").toString("utf8");
}

function asDiskFault(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (isErrno(error, "ENOSPC", "EDQUOT"))
      throw new Fault("disk_full", "the disk is full; make room first", { cause: error });
    throw error;
  }
}
