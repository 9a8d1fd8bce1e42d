import { spawnSync } from "node:child_process";
import { mkdirSync, statfsSync } from "node:fs";
import { owned } from "#bench/lib/owned.ts";

/** Above the floor below which no session is started, with room for what a run writes. */
const DISK_BYTES = 320 * 1024 * 1024;

const SPARE_BLOCKS = 2;
const MOST_SPARE_BLOCKS = 64;

/** Where the data directory lies: a file system of its own that can be filled, where that is allowed. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** Why it is only a directory; then a full disk is made by limits on the size of files. */
  readonly refused: string | undefined;
  /** From now on there is no room for anything more; says how much there was. */
  fill(): number;
  free(): void;
}

export function openSmallDisk(path: string): SmallDisk {
  mkdirSync(path);
  const made = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_BYTES}`, "reins-chaos", path]);
  const refused = made.status === 0 ? undefined : String(made.error?.message ?? made.stderr).trim();
  // A file system in memory can be made as small as what it holds: it is full at once, and it has room again at once.
  const resize = (bytes: number) => {
    const done = spawnSync("mount", ["-o", `remount,size=${bytes}`, path]);
    return done.status === 0 ? undefined : `the disk cannot be made ${bytes} bytes: ${done.stderr}`;
  };
  return {
    path,
    refused,
    fill: () => {
      const { bfree, bsize } = statfsSync(path);
      // Somebody may write between the look and the deed.
      for (let spare = 0; ; spare += SPARE_BLOCKS) {
        const now = statfsSync(path);
        const done = resize((now.blocks - now.bfree + spare) * bsize);
        if (done === undefined) return bfree * bsize;
        if (spare > MOST_SPARE_BLOCKS) throw new Error(done);
      }
    },
    free: () => {
      const failed = resize(DISK_BYTES);
      if (failed !== undefined) throw new Error(failed);
    },
    ...owned(() => {
      if (refused === undefined) spawnSync("umount", ["-l", path]);
    }),
  };
}
