// What a test run must not leave behind: processes and files. Finds them, names them and takes them away.
import { existsSync, readdirSync, readFileSync, readlinkSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Whoever was told to end has this long to do so before it counts as left behind. */
const SETTLE_MS = 2000;
const POLL_MS = 50;
const ROUNDS = 20;
const NAMED_FILES = 20;
const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;

/**
 * Linux: what loses its parent becomes ours, so that a process which cleared its environment and made a session of its
 * own is still found. `isOwn` tells the children that Node itself waits for.
 */
export async function adoptOrphans(isOwn) {
  if (process.platform !== "linux") return;
  const { default: koffi } = await import("koffi");
  const libc = koffi.load(null);
  const prctl = libc.func(
    "int prctl(int option, unsigned long value, unsigned long, unsigned long, unsigned long)",
  );
  const waitpid = libc.func("int waitpid(int pid, int *status, int options)");
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) !== 0) return;
  process.on("SIGCHLD", () => {
    for (const pid of childrenOf(process.pid)) if (!isOwn(pid)) waitpid(pid, null, WNOHANG);
  });
}

/** Ends what still runs and says what it was. */
export async function endLeftProcesses(mark) {
  if (!existsSync("/proc/self/stat")) return [];
  const deadline = performance.now() + SETTLE_MS;
  while (findLeft(mark).length > 0 && performance.now() < deadline) await sleep(POLL_MS);
  const named = new Map();
  for (let round = 0; round < ROUNDS; round += 1) {
    const left = findLeft(mark);
    if (left.length === 0) break;
    for (const { pid, command } of left) {
      named.set(pid, `process ${pid} was still running: ${command}`);
      kill(pid);
    }
    await sleep(POLL_MS);
  }
  return [...named.values()];
}

/** Removes the directory and says what was in it. */
export function removeLeftFiles(dir) {
  const found = readdirSync(dir, { recursive: true }).sort();
  const named = found.slice(0, NAMED_FILES).map((name) => `left on disk: ${join(dir, name)}`);
  if (found.length > NAMED_FILES) named.push(`and ${found.length - NAMED_FILES} more`);
  try {
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    named.push(`cannot remove ${dir}: ${error.message}`);
  }
  return named;
}

/** Where a socket goes whose own directory has too long a path. */
const socketDir = join("/tmp", `reins-${process.getuid?.() ?? 0}`);

export function listSockets() {
  return existsSync(socketDir) ? readdirSync(socketDir).map((name) => join(socketDir, name)) : [];
}

/** Removes and names the sockets that were not there before and that nobody listens on. */
export function removeLeftSockets(before) {
  const open = read(() => readFileSync("/proc/net/unix", "utf8"));
  const left = listSockets().filter((path) => !before.includes(path) && !open.includes(path));
  for (const path of left) rmSync(path, { force: true });
  if (before.length === 0 && listSockets().length === 0)
    rmSync(socketDir, { recursive: true, force: true });
  return left.map((path) => `left on disk: ${path}`);
}

/** A host that was killed leaves its cgroup, empty, to the next one; after the last run there is none. */
export function removeDeadCgroups() {
  const mounts = read(() => readFileSync("/proc/self/mountinfo", "utf8")).split("\n");
  const mount = mounts.find((line) => line.includes(" - cgroup2 "))?.split(" ")[4];
  const path = /^0::(.*)$/m.exec(read(() => readFileSync("/proc/self/cgroup", "utf8")))?.[1];
  if (mount === undefined || path === undefined) return;
  const names = list(join(mount, path))
    .map(({ name }) => name)
    .filter((name) => /^reins\.\d+$/.test(name));
  for (const name of names.filter(
    (found) => !existsSync(`/proc/${found.slice("reins.".length)}`),
  )) {
    const folder = join(mount, path, name);
    for (const entry of list(folder))
      if (entry.isDirectory()) read(() => rmdirSync(join(folder, entry.name)));
    read(() => rmdirSync(folder));
  }
}

/** Whoever carries the mark in its environment, its arguments or its working directory, and all descendants. */
function findLeft(mark) {
  const names = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const alive = names.map(readProcess).filter((found) => found !== undefined);
  const left = new Set([process.pid]);
  for (const { pid } of alive) if (carries(pid, mark)) left.add(pid);
  for (let size = 0; size !== left.size; ) {
    size = left.size;
    for (const { pid, ppid } of alive) if (left.has(ppid)) left.add(pid);
  }
  return alive.filter(({ pid }) => pid !== process.pid && left.has(pid));
}

function readProcess(name) {
  const stat = read(() => readFileSync(`/proc/${name}/stat`, "latin1"));
  const [state, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (stat === "" || state === "Z" || state === "X") return undefined;
  const command = read(() => readFileSync(`/proc/${name}/cmdline`, "utf8"));
  return { pid: Number(name), ppid: Number(ppid), command: command.replaceAll("\0", " ").trim() };
}

function carries(pid, mark) {
  return (
    read(() => readFileSync(`/proc/${pid}/environ`, "latin1")).includes(mark) ||
    read(() => readFileSync(`/proc/${pid}/cmdline`, "latin1")).includes(mark) ||
    read(() => readlinkSync(`/proc/${pid}/cwd`)).includes(mark)
  );
}

function childrenOf(pid) {
  const list = read(() => readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1"));
  return list.split(" ").filter(Boolean).map(Number);
}

/** Another run, or the next host, may remove it while it is looked at. */
function list(folder) {
  return read(() => readdirSync(folder, { withFileTypes: true })) || [];
}

function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has just ended by itself.
  }
}

function read(get) {
  try {
    return get();
  } catch {
    // Gone, or not ours.
    return "";
  }
}
