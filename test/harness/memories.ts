import { join } from "node:path";
import { ManualClock } from "#base/manual-clock.ts";
import type { MemoryStore } from "#contract/agent/memory.ts";
import { openMemories } from "#store/memory.ts";
import { openTempDir } from "./temp-dir.ts";

export interface TestMemories extends Disposable {
  readonly path: string;
  readonly clock: ManualClock;
  of(team: string): MemoryStore;
}

/** The memories of teams in a file of their own. */
export function openTestMemories(steps?: readonly string[]): TestMemories {
  using stack = new DisposableStack();
  const path = join(stack.use(openTempDir()).path, "memory.db");
  const clock = new ManualClock();
  const memories = stack.use(openMemories({ path, clock }, steps));
  const owned = stack.move();
  return {
    path,
    clock,
    of: (team) => memories.of(team),
    [Symbol.dispose]: () => owned.dispose(),
  };
}
