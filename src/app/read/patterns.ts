import type { LinearPattern } from "#base/linear-pattern.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { bytesOfUnits } from "./pattern-utf8.ts";
import { type SearchOwner, SearchTurns } from "./search-turns.ts";

/** Patterns that callers wait for. They are matched in linear time, one search at a time, in turns. */
export interface Patterns extends Disposable {
  /** Rejects with `invalid_request` when it is not a pattern. */
  create(pattern: string): Promise<PatternSearch>;
  /** Searches that wait for their turn. */
  readonly waiting: number;
}

/** One pattern of one wait. */
export interface PatternSearch {
  /** The size of the text that is searched at once: less for a large pattern. */
  readonly windowBytes: number;
  /** The first match that begins at or behind `from`; what is before is only context. Places are in bytes. */
  find(text: PatternText, signal?: AbortSignal): Promise<PatternHit | undefined>;
}

interface PatternText {
  /** Not to be changed before the answer. */
  readonly bytes: Uint8Array;
  readonly from: number;
}

interface PatternHit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The most of one search: characters times the steps of the pattern. About a tenth of a second. */
const SEARCH_STEPS = 8 * 1024 * 1024;
const LEAST_WINDOW_BYTES = 8 * 1024;
/** The usual speed of a search. */
const BYTES_PER_MS = 50_000;

/** Loads nothing yet: the engine comes with the first pattern. */
export function openPatterns(): Patterns {
  const turns = new SearchTurns();
  return {
    create: async (pattern) => createSearch(turns, pattern),
    get waiting() {
      return turns.waiting;
    },
    [Symbol.dispose]: () => turns[Symbol.dispose](),
  };
}

async function createSearch(turns: SearchTurns, source: string): Promise<PatternSearch> {
  const pattern = await compilePattern(source);
  const owner: SearchOwner = { usedMs: 0 };
  const namesReturn = NAMES_RETURN.test(source);
  const room = Math.floor(SEARCH_STEPS / pattern.size);
  return {
    windowBytes: Math.min(limits.wait_window_bytes, Math.max(LEAST_WINDOW_BYTES, room)),
    find: (text, signal) => {
      const expectedMs = (text.bytes.length - text.from) / BYTES_PER_MS;
      const search = () => findIn(pattern, text, { namesReturn });
      return turns.take(owner, { expectedMs, search }, signal);
    },
  };
}

async function compilePattern(source: string): Promise<LinearPattern> {
  const { compileLinear, PatternProblem } = await import("#base/linear-pattern.ts");
  try {
    return compileLinear(source, { multiline: true });
  } catch (error) {
    if (!(error instanceof PatternProblem)) throw error;
    const details = { field: "pattern" };
    throw new Fault("invalid_request", `pattern: ${error.message}`, { details });
  }
}

/** Otherwise a carriage return ends a line, as terminals print both at the end of each. */
const NAMES_RETURN = /\r|\\r|\\x0d|\\u000d|\\u\{0*d\}|\\cM/i;

function findIn(
  pattern: LinearPattern,
  { bytes, from }: PatternText,
  { namesReturn }: { readonly namesReturn: boolean },
): PatternHit | undefined {
  const before = decode(bytes.subarray(0, from));
  const printed = before + decode(bytes.subarray(from));
  const text = namesReturn ? printed : printed.replaceAll("\r", "\n");
  const place = pattern.find(text, before.length);
  // A thousand waits may be under way.
  pattern.release();
  if (place === undefined) return undefined;
  const start = from + bytesOfUnits(bytes, from, place.start - before.length);
  const end = start + bytesOfUnits(bytes, start, place.end - place.start);
  return { start, end, text: printed.slice(place.start, place.end) };
}

/** A byte order mark is a character like others: leaving it out would shift what follows. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
