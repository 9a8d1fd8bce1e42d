import { openTempDir } from "./temp-dir.ts";

/** Where the home of a run's callers is, for all of its processes. */
const NAME = "RT_HOME";

/** Of the whole run: made before the first test of it and gone, with what was written there, after the last one. */
export function setup(): (() => void) | undefined {
  // Each project of the run asks for one; the first one's is everybody's.
  if (process.env[NAME] !== undefined) return undefined;
  const home = openTempDir();
  process.env[NAME] = home.path;
  // Tests of an ordinary user count the descriptors of hosts and gateways, which are guarded from that user otherwise.
  process.env.REINS_DUMPABLE = "1";
  return () => home[Symbol.dispose]();
}

export function callerHome(): string {
  const path = process.env[NAME];
  if (path === undefined)
    throw new Error("vitest.config.ts makes the home of callers; this is no test");
  return path;
}
