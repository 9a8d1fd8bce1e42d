import type { Clock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import type { Spawner } from "./child.ts";
import { ProcessTable } from "./process-table.ts";

export interface SpawnerOptions {
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** The process has no other children, adopts orphans and reaps them: true in the host alone. */
  readonly isHost: boolean;
  /** Off: trees are found by their marks alone, as where no cgroup can be made. */
  readonly cgroups?: boolean;
  readonly wrap?: (argv: readonly string[]) => readonly string[];
}

export type OpenSpawner = Spawner & Disposable;

/** The spawner of this platform. Elsewhere every spawn answers `unsupported_os`. */
export async function openSpawner(options: SpawnerOptions): Promise<OpenSpawner> {
  if (process.platform === "linux") {
    const { openLinuxSpawner } = await import("./linux/open-spawner.ts");
    return openLinuxSpawner(options, new ProcessTable());
  }
  if (process.platform === "darwin") {
    const { openDarwinSpawner } = await import("./darwin/open-spawner.ts");
    return await openDarwinSpawner(options);
  }
  return unsupportedSpawner();
}

export function unsupportedSpawner(): OpenSpawner {
  return {
    spawn() {
      throw new Fault("unsupported_os", `sessions do not run on ${process.platform}; Linux and macOS can`, {
        details: { platform: process.platform },
      });
    },
    [Symbol.dispose]: () => undefined,
  };
}
