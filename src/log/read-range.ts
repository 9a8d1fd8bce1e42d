import { setImmediate } from "node:timers/promises";
import { endOf, type LogChunk, type LogSource } from "./log-source.ts";

/** History is read without waiting for anything, so after this much the others of the process get their turn. */
const TURN_BYTES = 1024 * 1024;

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
