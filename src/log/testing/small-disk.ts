import { spawnSync } from "node:child_process";
import { openTempDir } from "./temp-dir.ts";

/** A real file system of a few pages, or why there is none. */
export type SmallDisk = Disposable & {
  readonly path: string;
  readonly refused: string | undefined;
};

export function openSmallDisk(bytes: number): SmallDisk {
  const dir = openTempDir();
  const made = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "reins-test", dir.path]);
  const refused = made.status === 0 ? undefined : `${made.error?.message ?? made.stderr}`;
  return {
    path: dir.path,
    refused,
    [Symbol.dispose]: () => {
      if (refused === undefined) spawnSync("umount", [dir.path]);
      dir[Symbol.dispose]();
    },
  };
}
