import { systemClock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import type { MemoryStore } from "#contract/agent/memory.ts";
import { openMemories } from "#store/memory.ts";

interface LazyMemoriesOptions {
  /** Where the file is; asked when it is opened. */
  readonly locate: () => string;
  readonly log: Logger;
  /** Closes it. */
  readonly stack: AsyncDisposableStack;
}

/** What teams remember, in a file that the first who looks opens. */
export function createLazyMemories(options: LazyMemoriesOptions): (team: string) => MemoryStore {
  const { locate, log, stack } = options;
  let memories: ReturnType<typeof openMemories> | undefined;
  const open = (team: string) => {
    memories ??= stack.use(openMemories({ path: locate(), clock: systemClock, log }));
    return memories.of(team);
  };
  return (team) => ({
    add: (text) => open(team).add(text),
    search: (query, limit) => open(team).search(query, limit),
    list: (limit) => open(team).list(limit),
    count: () => open(team).count(),
    remove: (id) => open(team).remove(id),
  });
}
