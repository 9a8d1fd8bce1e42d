import { statSync } from "node:fs";
import type { Clock } from "#base/clock.ts";

/** How soon a host notices; a stat costs microseconds. */
const LOOK_MS = 1000;

/**
 * Calls back once when the file at the path is no longer the one that was there: a data directory that was removed or
 * replaced has no lock of ours any more, and another host may serve its path.
 */
export function watchFile(path: string, clock: Clock, onGone: () => void): Disposable {
  const first = identify(path);
  let timer: Disposable | undefined;
  const look = () => {
    if (identify(path) === first) timer = clock.timer(LOOK_MS, look);
    else onGone();
  };
  timer = clock.timer(LOOK_MS, look);
  return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
}

function identify(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev} ${found.ino}`;
}
