import { locateDataDir } from "#host/data-dir.ts";
import { createWorld, type World } from "./world.ts";

/** This machine with another data directory and an empty environment, changed as a test wants it. */
export function createTestWorld(home: string, change: Partial<World> = {}): World {
  return { ...createWorld(), dir: locateDataDir(home), env: {}, ...change };
}
