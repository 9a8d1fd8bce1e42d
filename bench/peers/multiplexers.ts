import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { owned } from "#bench/lib/owned.ts";
import { findByDirectory, readMemory } from "#bench/lib/process-facts.ts";
import { openTempDir } from "#bench/lib/temp-dir.ts";
import type { Peer } from "./peer.ts";
import { openTerminalClient } from "./terminal-client.ts";

interface Multiplexer {
  readonly version: readonly string[];
  /** What is said of it in the table. */
  readonly name: string;
  attached(dir: string, serial: number): readonly string[];
  detached(dir: string, serial: number): readonly string[];
}

const run = promisify(execFile);
const END_MS = 10_000;
const POLL_MS = 20;

const tmux = (dir: string) => ["tmux", "-S", join(dir, "socket"), "-f", join(dir, "conf")];
const screen = (dir: string) => ["screen", "-c", join(dir, "screenrc")];

/** The arguments that come before those of the program inside. */
const multiplexers: readonly Multiplexer[] = [
  {
    name: "tmux",
    version: ["tmux", "-V"],
    attached: (dir) => [...tmux(dir), "new-session"],
    detached: (dir, serial) => [...tmux(dir), "new-session", "-d", "-s", `s${serial}`],
  },
  {
    name: "dtach",
    version: ["dtach", "--help"],
    attached: (dir, serial) => ["dtach", "-c", join(dir, `s${serial}`), "-E", "-z"],
    detached: (dir, serial) => ["dtach", "-n", join(dir, `s${serial}`), "-E", "-z"],
  },
  {
    name: "screen",
    version: ["screen", "--version"],
    attached: (dir, serial) => [...screen(dir), "-S", `s${serial}`],
    detached: (dir, serial) => [...screen(dir), "-d", "-m", "-S", `s${serial}`],
  },
];

/** Those that are on this machine; what is missing is said, because a table without it looks complete. */
export function openMultiplexers(): Peer[] {
  return multiplexers.flatMap((multiplexer) => {
    const version = findVersion(multiplexer);
    if (version !== undefined) return [openMultiplexer(multiplexer, version)];
    process.stderr.write(`peers: ${multiplexer.name} is not installed and is left out\n`);
    return [];
  });
}

function openMultiplexer(multiplexer: Multiplexer, version: string): Peer {
  const dir = openTempDir();
  const env = layOut(dir.path);
  let serial = 0;
  const pids = () => findByDirectory(dir.path);
  const resource = owned(async () => {
    await endAll(pids);
    await dir[Symbol.asyncDispose]();
  });
  return {
    name: multiplexer.name,
    version,
    attach: async (argv) => {
      serial += 1;
      const started = [...multiplexer.attached(dir.path, serial), ...argv];
      const client = openTerminalClient({ argv: started, env });
      return {
        ...client,
        [Symbol.asyncDispose]: async () => {
          await client[Symbol.asyncDispose]();
          await endAll(pids);
        },
      };
    },
    openIdle: async (argv) => {
      serial += 1;
      const [program = "", ...args] = [...multiplexer.detached(dir.path, serial), ...argv];
      await run(program, args, { env });
    },
    memory: () => pids().reduce((sum, pid) => sum + readMemory(pid).own_kib, 0),
    endIdle: () => endAll(pids),
    ...resource,
  };
}

/** No status lines, nothing of the user's own. */
function layOut(dir: string): Record<string, string> {
  const sockets = join(dir, "screens");
  mkdirSync(sockets, { mode: 0o700 });
  writeFileSync(join(dir, "conf"), "set -g status off\n");
  writeFileSync(join(dir, "screenrc"), "startup_message off\n");
  const { PATH = "/usr/local/bin:/usr/bin:/bin" } = process.env;
  return { PATH, HOME: dir, LANG: "C.UTF-8", TERM: "xterm-256color", SCREENDIR: sockets };
}

/** Whatever has our directory among its arguments is ours. */
async function endAll(pids: () => number[]): Promise<void> {
  const until = performance.now() + END_MS;
  for (let left = pids(); left.length > 0; left = pids()) {
    const signal = performance.now() < until ? "SIGTERM" : "SIGKILL";
    for (const pid of left) signalOne(pid, signal);
    await sleep(POLL_MS);
  }
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

function findVersion({ version: [program = "", ...args] }: Multiplexer): string | undefined {
  try {
    const said = execFileSync(program, args, { encoding: "utf8", stdio: "pipe" });
    return /\d+\.\d+[\w.]*/.exec(said)?.[0] ?? "";
  } catch (error) {
    // Some of them tell their version and fail.
    if (!(error instanceof Error) || !("stdout" in error) || "code" in error) return undefined;
    return /\d+\.\d+[\w.]*/.exec(String(error.stdout))?.[0] ?? "";
  }
}
