import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/**
 * Why there is no child, where Node had no descriptor for it: then it has no streams, which its types do not know, and
 * an error that comes a turn later ends the process unless somebody listens. So it is asked in the turn of the spawn.
 */
export function findSpawnRefusal(child: ChildProcess): Promise<unknown> | undefined {
  if (child.stdin !== undefined) return undefined;
  return once(child, "error").then(([error]) => error);
}
