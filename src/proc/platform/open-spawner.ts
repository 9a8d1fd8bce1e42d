import { messageOf } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import { ProcessTable } from "#proc/process-table.ts";
import type { OpenSpawner, SpawnerOptions } from "#proc/spawner.ts";
import { unsupportedOs, unsupportedSpawner } from "#proc/unsupported.ts";

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
  const { openLibc } = await import("#proc/linux/libc.ts");
  const { selfTest } = await import("#proc/linux/self-test.ts");
  selfTest(openLibc());
}

async function openPlatformSpawner(options: SpawnerOptions): Promise<OpenSpawner> {
  if (process.platform === "linux") {
    const { openLinuxSpawner } = await import("#proc/linux/open-spawner.ts");
    return openLinuxSpawner(options, new ProcessTable());
  }
  if (process.platform === "darwin") {
    const { openDarwinSpawner } = await import("#proc/darwin/open-spawner.ts");
    return await openDarwinSpawner(options);
  }
  throw unsupportedOs(`sessions do not run on ${process.platform}; Linux and macOS can`);
}
