import type { Libc } from "./libc.ts";

/**
 * A mark that every descendant inherits and that neither setsid nor a cleared environment removes: the soft limit
 * for message queues, lowered by a number that differs from session to session. Nobody misses a few bytes of a
 * limit of 800 KiB, and the kernel hands it on at every fork and exec.
 */
export interface LimitMarks {
  /** The value that the next child is started with, or undefined where the limit is too small for marks. */
  next(): number | undefined;
  /** Runs with our own limit lowered to the mark; the child that is spawned meanwhile keeps it. */
  during<T>(mark: number | undefined, run: () => T): T;
}

const ROOM = 400_000;
/** Where there is no limit, one that nobody can reach. */
const HIGHEST = 2 ** 40;

/** `taken`: marks of children that the program before us started. */
export function openLimitMarks(
  libc: Pick<Libc, "limitMark">,
  taken: ReadonlySet<number> = new Set(),
): LimitMarks {
  const { hard } = libc.limitMark.read();
  const top = hard > HIGHEST ? HIGHEST : Number(hard);
  // Too small a limit leaves no room for marks.
  if (top <= ROOM) return { next: () => undefined, during: (_, run) => run() };
  // A host that was started inside a session of another host carries that session's mark.
  libc.limitMark.write(hard, hard);
  let serial = Math.floor(Math.random() * ROOM);
  return {
    next() {
      do serial = (serial + 1) % ROOM;
      while (taken.has(top - 1 - serial));
      return top - 1 - serial;
    },
    during(mark, run) {
      if (mark === undefined) return run();
      libc.limitMark.write(BigInt(mark), hard);
      try {
        return run();
      } finally {
        libc.limitMark.write(hard, hard);
      }
    },
  };
}
