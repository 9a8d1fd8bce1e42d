import { execFileSync } from "node:child_process";
import type { ProcessStat } from "./identity.ts";
import type { Snapshot } from "./process-table.ts";

/**
 * Processes as `ps` tells them, where there is no /proc. Start times are whole seconds, and nothing can be read of
 * another process's environment or limits, so trees are found by parent, group and session alone.
 */
const COLUMNS = ["pid", "ppid", "pgid", "sess", "stat", "lstart", "comm"].flatMap((name) => [
  "-o",
  `${name}=`,
]);
const OUTPUT_BYTES = 64 * 1024 * 1024;

export function takePsSnapshot(): Snapshot {
  const processes = parsePs(runPs(["-ax", ...COLUMNS])).filter((stat) => stat.state !== "Z");
  return { processes, sessionOf: () => undefined, limitOf: () => undefined };
}

/** Undefined when there is no such process. */
export function findByPs(pid: number): ProcessStat | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return parsePs(runPs([...COLUMNS, "-p", String(pid)]))[0];
}

let bootSession: string | undefined;

export function readBootSession(): string {
  bootSession ??= run("/usr/sbin/sysctl", ["-n", "kern.bootsessionuuid"]).trim() || "unknown";
  return bootSession;
}

/** The group in the foreground of the process's terminal. */
export function findForegroundGroup(pid: number): number | undefined {
  const group = Number(runPs(["-o", "tpgid=", "-p", String(pid)]));
  return group > 1 ? group : undefined;
}

export function findUser(pid: number): number {
  const text = runPs(["-o", "uid=", "-p", String(pid)]).trim();
  return text === "" ? -1 : Number(text);
}

const LINE =
  /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s+(.*)$/;

export function parsePs(text: string): ProcessStat[] {
  return text.split("\n").flatMap((line) => {
    const [, pid, ppid, pgid, session = "", state = "", start = "", name = ""] =
      LINE.exec(line) ?? [];
    const started = Date.parse(`${start} UTC`);
    if (pid === undefined || Number.isNaN(started)) return [];
    return {
      pid: Number(pid),
      name,
      state: state.charAt(0),
      ppid: Number(ppid),
      pgid: Number(pgid),
      // macOS prints 0, or an address of the kernel, and tells no session by its number.
      sid: /^\d+$/.test(session) ? Number(session) : 0,
      start_time: started / 1000,
    };
  });
}

function runPs(args: readonly string[]): string {
  return run("/bin/ps", args);
}

/** Empty when it fails, as `ps` does when nobody is found. */
function run(file: string, args: readonly string[]): string {
  try {
    return execFileSync(file, args, {
      encoding: "latin1",
      // Dates in one language and one time zone, whatever ours are.
      env: { LC_ALL: "C", TZ: "UTC" },
      maxBuffer: OUTPUT_BYTES,
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch (error) {
    if (isExit(error)) return "";
    throw error;
  }
}

function isExit(error: unknown): boolean {
  return error instanceof Error && "status" in error && typeof error.status === "number";
}
