import { limits } from "#contract/limits.ts";
import { findExisting } from "./data-dir.ts";
import { type Finding, failed, fine, note } from "./finding.ts";
import type { World } from "./world.ts";

/** As `engines` in package.json and bin/reins.mjs have it. */
const OLDEST_NODE = [24, 12] as const;
const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const LOW_DISK_BYTES = GIB;
/** Enough for well over a hundred sessions. */
const FEW_FILES = 1024;
const FEW_TERMINALS = 16;

export function checkNode({ nodeVersion }: World): Finding {
  const [major = 0, minor = 0] = nodeVersion.split(".").map(Number);
  const [oldest, oldestMinor] = OLDEST_NODE;
  if (major > oldest || (major === oldest && minor >= oldestMinor))
    return fine("node", `Node ${nodeVersion} is new enough.`);
  return failed(
    "node",
    `Node ${nodeVersion} is too old.`,
    `Install Node ${OLDEST_NODE.join(".")} or newer.`,
  );
}

export function checkDisk({ dir, freeDiskBytes }: World): Finding {
  const free = freeDiskBytes(findExisting(dir.path));
  if (free === undefined) return note("disk", `How much room ${dir.path} has cannot be found out.`);
  const sentence = `${describeBytes(free)} are free for the logs.`;
  if (free >= LOW_DISK_BYTES) return fine("disk", sentence);
  if (free >= limits.disk_free_floor_bytes)
    return note(
      "disk",
      sentence,
      "Make room soon; reins close --purge ID removes what a session wrote.",
    );
  return failed(
    "disk",
    `Only ${sentence}`,
    `Make room: below ${describeBytes(limits.disk_free_floor_bytes)} no session is started.`,
  );
}

function describeBytes(bytes: number): string {
  return bytes >= GIB ? `${(bytes / GIB).toFixed(1)} GiB` : `${Math.floor(bytes / MIB)} MiB`;
}

export function checkOpenFiles({ readKernel }: World): Finding {
  const text = readKernel("/proc/self/limits");
  const found = /^Max open files +(\d+|unlimited)/m.exec(text ?? "")?.[1];
  if (found === undefined)
    return note("open_files", "The limit of open files cannot be read on this system.");
  const most = found === "unlimited" ? Number.POSITIVE_INFINITY : Number(found);
  if (most >= FEW_FILES) return fine("open_files", `${found} files may be open at once.`);
  return failed(
    "open_files",
    `Only ${found} files may be open at once, and a session needs about five.`,
    `Raise the hard limit (ulimit -Hn, limits.conf or LimitNOFILE) to ${FEW_FILES} or more, then: reins host stop`,
  );
}

export function checkTerminalCount({ readKernel }: World): Finding {
  const most = readNumber(readKernel("/proc/sys/kernel/pty/max"));
  const used = readNumber(readKernel("/proc/sys/kernel/pty/nr"));
  if (most === undefined || used === undefined)
    return note("terminal_count", "The number of terminals cannot be read on this system.");
  const sentence = `${used} of ${most} terminals are in use.`;
  if (most - used >= FEW_TERMINALS) return fine("terminal_count", sentence);
  return failed(
    "terminal_count",
    sentence,
    "Close some, or let root raise the limit: sysctl kernel.pty.max=4096",
  );
}

function readNumber(text: string | undefined): number | undefined {
  const found = /^\d+/.exec(text ?? "")?.[0];
  return found === undefined ? undefined : Number(found);
}

/** Never a failure: without them the processes of a session are found by their marks. */
export async function checkCgroups({ hasCgroups }: World): Promise<Finding> {
  if (await hasCgroups()) return fine("cgroups", "Each session can have a cgroup of its own.");
  return note("cgroups", "No cgroup can be made here; processes are found by their marks instead.");
}
