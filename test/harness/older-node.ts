import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const OLDEST = 24;

/** A Node of this machine that is too old for Reins, if there is one. */
export function findOlderNode(): string | undefined {
  const folders = (process.env.PATH ?? "").split(":").filter((path) => !/node_modules/.test(path));
  const found = [...folders, "/usr/bin", "/usr/local/bin"].map((folder) => join(folder, "node"));
  return found.find((path) => existsSync(path) && majorOf(path) < OLDEST);
}

function majorOf(path: string): number {
  const { stdout } = spawnSync(path, ["--version"], { encoding: "utf8" });
  return Number(/^v(\d+)/.exec(stdout)?.[1] ?? OLDEST);
}
