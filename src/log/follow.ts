import { setImmediate } from "node:timers/promises";
import { endOf, type LogChunk, type LogSource } from "./log-source.ts";
import type { Tails } from "./tail-signal.ts";

/** History is read without waiting for anything, so after this much the others of the process get their turn. */
const TURN_BYTES = 1024 * 1024;

export interface FollowOptions {
  readonly tails: Tails;
  /** Of bytes in a chunk. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Everything from the cursor on, for ever: reads up to the tail, then waits for it to move. Ends when aborted. */
export async function* follow(
  source: LogSource,
  cursor: number,
  { tails, limit, signal }: FollowOptions,
): AsyncGenerator<LogChunk, void, void> {
  // The news may be older than the files; the files are asked once, so that nothing waits for what is there.
  let tail = await source.tail();
  let next = cursor;
  while (!signal.aborted) {
    tail = Math.max(tail, tails.current());
    for await (const chunk of readRange(source, next, { to: tail, limit })) {
      if (signal.aborted) return;
      yield chunk;
      next = endOf(chunk);
    }
    if (!(await hasMoved(tails, next, signal))) return;
  }
}

/** What is in `[from, to)`, where `to` is at most the tail. */
export async function* readRange(
  source: LogSource,
  from: number,
  { to, limit }: { readonly to: number; readonly limit: number },
): AsyncGenerator<LogChunk, void, void> {
  let next = from;
  let turn = 0;
  for (;;) {
    const chunk = await source.read(next, { limit, tail: to });
    if (chunk === undefined) return;
    yield chunk;
    turn += endOf(chunk) - next;
    next = endOf(chunk);
    if (turn < TURN_BYTES) continue;
    turn = 0;
    await setImmediate();
  }
}

async function hasMoved(tails: Tails, past: number, signal: AbortSignal): Promise<boolean> {
  try {
    await tails.moved(past, { signal });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
