import type { Clock } from "#base/clock.ts";
import { messageOf } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import type { Spawner } from "./child.ts";
import type { Succession } from "./linux/succession.ts";
import { ProcessTable } from "./process-table.ts";
import { unsupportedOs, unsupportedSpawner } from "./unsupported.ts";

export interface SpawnerOptions {
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** The process has no other children, adopts orphans and reaps them: true in the host alone. */
  readonly isHost: boolean;
  /** Off: trees are found by their marks alone, as where no cgroup can be made. */
  readonly cgroups?: boolean;
  readonly wrap?: (argv: readonly string[]) => readonly string[];
  /** What the program that was in this process before has left to us. */
  readonly inherited?: Inherited | undefined;
}

export interface Inherited {
  /** Children that will be adopted. */
  readonly pids: ReadonlySet<number>;
  readonly limit_marks: ReadonlySet<number>;
}

export interface OpenSpawner extends Spawner, Disposable {
  /** Undefined where another program cannot take this process over with its children. */
  readonly succession?: Succession;
}

/** The spawner of this platform. Where there is none, or it does not work, every spawn answers `unsupported_os`. */
export async function openSpawner(options: SpawnerOptions): Promise<OpenSpawner> {
  try {
    return await openPlatformSpawner(options);
  } catch (error) {
    options.onError(error);
    return unsupportedSpawner(
      error instanceof Fault && error.code === "unsupported_os"
        ? error
        : unsupportedOs(`sessions cannot run here: ${messageOf(error)}`, error),
    );
  }
}

/** Throws `unsupported_os` where children could not be started; changes nothing. */
export async function tryPlatform(): Promise<void> {
  if (process.platform !== "linux") return;
  const { openLibc } = await import("./linux/libc.ts");
  const { selfTest } = await import("./linux/self-test.ts");
  selfTest(openLibc());
}

async function openPlatformSpawner(options: SpawnerOptions): Promise<OpenSpawner> {
  if (process.platform === "linux") {
    const { openLinuxSpawner } = await import("./linux/open-spawner.ts");
    return openLinuxSpawner(options, new ProcessTable());
  }
  if (process.platform === "darwin") {
    const { openDarwinSpawner } = await import("./darwin/open-spawner.ts");
    return await openDarwinSpawner(options);
  }
  throw unsupportedOs(`sessions do not run on ${process.platform}; Linux and macOS can`);
}
