import { statSync } from "node:fs";
import type { Clock } from "#base/clock.ts";

/** How soon a host notices; a stat costs microseconds. */
const LOOK_MS = 1000;

/** Whether the file at a path still is the one that is there now. */
export function rememberFile(path: string): () => boolean {
  const first = identify(path);
  return () => identify(path) === first;
}

/**
 * Calls back once when the file at the path is no longer the one that was there: a data directory that was removed or
 * replaced has no lock of ours any more, and another host may serve its path.
 */
export function watchFile(path: string, clock: Clock, onGone: () => void): Disposable {
  const isSame = rememberFile(path);
  let timer: Disposable | undefined;
  const look = () => {
    if (isSame()) timer = clock.timer(LOOK_MS, look);
    else onGone();
  };
  timer = clock.timer(LOOK_MS, look);
  return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
}

function identify(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev} ${found.ino}`;
}
