import { addAbortListener } from "node:events";
import { Fault } from "#contract/fault.ts";
import { type Ask, PatternThread } from "./pattern-thread.ts";
import type { PatternReply } from "./pattern-worker.ts";

/**
 * Patterns are written by callers, so they run where they can be stopped: in one thread beside the server, one search
 * at a time, each stopped after 50 ms. A search that is stopped is tried again, and what it took beyond a decent
 * search is a debt that decent ones pay back; too much of it ends the wait that asked.
 */
export interface Patterns extends Disposable {
  /** Throws `invalid_request` when it is no pattern. */
  create(pattern: string): PatternSearch;
  /** Searches that wait for their turn. */
  readonly waiting: number;
}

/** One pattern of one wait. */
export interface PatternSearch {
  /** The first match that begins at or behind `from`; what is before is only context. Places are in bytes. */
  find(text: PatternText, signal?: AbortSignal): Promise<PatternHit | undefined>;
}

export interface PatternText {
  /** Not to be changed before the answer. */
  readonly bytes: Uint8Array;
  readonly from: number;
}

export interface PatternHit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** What a search of a whole window may take for nothing. */
const DECENT_MS = 5;
const DEBT_LIMIT_MS = 1000;

/** Starts nothing yet: the thread begins with the first search. */
export function openPatterns(): Patterns {
  const thread = new PatternThread();
  return {
    create: (pattern) => createSearch(thread, pattern),
    get waiting() {
      return thread.waiting;
    },
    [Symbol.dispose]: () => thread[Symbol.dispose](),
  };
}

function createSearch(thread: PatternThread, source: string): PatternSearch {
  const flags = chooseFlags(source);
  let debt = 0;
  return {
    async find(text, signal) {
      for (;;) {
        const ask = () => thread.ask({ source, flags, ...text }, { isSlow: debt > 0 });
        const reply = await hear(ask, signal);
        if (reply.kind === "match") return { start: reply.start, end: reply.end, text: reply.text };
        if (reply.kind === "failed") throw invalidPattern(reply.message);
        debt = Math.max(0, debt + reply.took_ms - DECENT_MS);
        if (debt > DEBT_LIMIT_MS) throw tooSlow();
        if (reply.kind === "none") return undefined;
      }
    },
  };
}

async function hear(ask: () => Ask, signal: AbortSignal | undefined): Promise<PatternReply> {
  signal?.throwIfAborted();
  const { reply, abandon } = ask();
  using _abort =
    signal === undefined ? undefined : addAbortListener(signal, () => abandon(signal.reason));
  return await reply;
}

/** Whole characters where the pattern allows it; older ones only parse without. */
function chooseFlags(source: string): string {
  for (const flags of ["gmu", "gm"]) if (problemOf(source, flags) === undefined) return flags;
  throw invalidPattern(problemOf(source, "gm") ?? "it cannot be read");
}

function problemOf(source: string, flags: string): string | undefined {
  try {
    new RegExp(source, flags);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function invalidPattern(why: string): Fault {
  return new Fault("invalid_request", `pattern: ${why}`, { details: { field: "pattern" } });
}

function tooSlow(): Fault {
  return invalidPattern(
    "it is too slow for this output; avoid repetitions inside of repetitions, and .* at its start",
  );
}
