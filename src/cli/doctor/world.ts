import { accessSync, constants, readFileSync } from "node:fs";
import { systemClock } from "#base/clock.ts";
import { describeCaller, findDataDir, ownCommand } from "#cli/program/context.ts";
import { version } from "#cli/program/version.ts";
import { freeDiskBytes } from "#host/capacity.ts";
import { type DataDir, locateDataDir } from "#host/data-dir.ts";
import { openSpawner } from "#proc/platform/open-spawner.ts";
import type { OpenSpawner } from "#proc/spawner.ts";

/** The machine as the checks see it: a port, so that each of them can be made to fail. */
export interface World {
  readonly dir: DataDir;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of this program. */
  readonly version: string;
  readonly nodeVersion: string;
  /** Undefined where there are no users. */
  readonly uid: number | undefined;
  /** How to run `reins`, for the host that may have to be started. */
  readonly command: readonly string[];
  /** How long somebody who should answer at once is waited for. */
  readonly patienceMs: number;
  openSpawner(): Promise<OpenSpawner>;
  freeDiskBytes(path: string): number | undefined;
  isWritable(folder: string): boolean;
  /** A file of the kernel's; undefined where there is none. */
  readKernel(path: string): string | undefined;
  /** Whether a cgroup can be made here. */
  hasCgroups(): Promise<boolean>;
}

const PATIENCE_MS = 5000;

export function createWorld(): World {
  return {
    dir: locateDataDir(findDataDir()),
    env: describeCaller().where.env,
    version: version(),
    nodeVersion: process.versions.node,
    uid: process.getuid?.(),
    command: ownCommand(),
    patienceMs: PATIENCE_MS,
    openSpawner: () =>
      openSpawner({
        clock: systemClock,
        isHost: false,
        cgroups: false,
        // The spawn that follows says the same.
        onError: () => undefined,
      }),
    freeDiskBytes,
    isWritable,
    readKernel,
    hasCgroups,
  };
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function readKernel(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // Another kernel.
    return undefined;
  }
}

async function hasCgroups(): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const { openCgroups } = await import("#proc/cgroup/cgroup.ts");
  using cgroups = openCgroups();
  return cgroups !== undefined;
}
