import { addAbortListener } from "node:events";
import type { Clock } from "#base/clock.ts";
import { isFinal } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import { defined } from "#contract/values/defined.ts";
import { endOf, type LogChunk, type MaybePromise } from "#log/log-source.ts";
import { readRange } from "#log/read-range.ts";
import type { SessionHandle } from "#session/session-host.ts";

/** What was looked for, in bytes of the log. */
export interface Found {
  readonly offset: number;
  readonly end: number;
  readonly text?: string;
}

/** Looks through bytes that follow each other. */
export interface Scanner {
  push(offset: number, bytes: Uint8Array): MaybePromise<Found | undefined>;
  /** Behind what was pushed there is nothing now, or, with `isEnd`, nothing that belongs to it will ever be. */
  settle(options: { readonly isEnd: boolean }): MaybePromise<Found | undefined>;
  /** Bytes that the next look goes over once more. */
  readonly covered: number;
  /** Where a next wait has to look from so that nothing is missed; undefined before the first byte. */
  readonly resume: number | undefined;
}

export interface Scan {
  readonly handle: SessionHandle;
  readonly clock: Clock;
  readonly ending: WaitEnding;
  readonly from: number;
}

const CHUNK_BYTES = 64 * 1024;
/** Looking over this much again is cheap enough to do it at every byte that comes. */
const SMALL_COVERED_BYTES = 16 * 1024;
/** Otherwise what comes within this time, or until half as much as is covered, is looked at together. */
const GATHER_MS = 20;

/**
 * Reads up to the tail, then waits for it to move, until something is found, the wait is over or nothing can come any
 * more. What is there when it begins is always looked at to its end, however short the time is.
 */
export async function scan(
  { handle, clock, ending, from }: Scan,
  scanner: Scanner,
): Promise<Found | undefined> {
  const { output } = handle;
  let next = from;
  for (let isFirst = true; ; isFirst = false) {
    // The state before the tail: one that is final has told its tail before.
    const isEnd = isFinal(handle.session);
    const isClosed = handle.state === "closed";
    const to = isClosed ? Math.max(handle.tail, output.tail()) : handle.tail;
    const chunks = readRange(output, next, { to, limit: CHUNK_BYTES });
    const stop = () => !isFirst && ending.isOver;
    const pass = await readPass(scanner, chunks, { ending, stop });
    next = pass.next ?? next;
    const found = pass.found ?? (await scanner.settle({ isEnd }));
    if (found !== undefined || isEnd || ending.isOver) return found;
    if (isClosed) throw hostGone(handle.session.session_id);
    await moreThan(next, { handle, clock, ending, covered: scanner.covered });
  }
}

async function readPass(
  scanner: Scanner,
  chunks: AsyncIterable<LogChunk>,
  { ending, stop }: { readonly ending: WaitEnding; readonly stop: () => boolean },
): Promise<{ readonly next?: number; readonly found?: Found }> {
  let next: number | undefined;
  for await (const chunk of chunks) {
    ending.throwIfAborted();
    if (stop()) break;
    next = endOf(chunk);
    const found = await take(scanner, chunk);
    if (found !== undefined) return { next, found };
  }
  return defined({ next });
}

/** Nothing matches across a gap. */
async function take(scanner: Scanner, chunk: LogChunk): Promise<Found | undefined> {
  if (chunk.kind === "bytes") return await scanner.push(chunk.offset, chunk.bytes);
  return await scanner.settle({ isEnd: true });
}

async function moreThan(
  next: number,
  { handle, clock, ending, covered }: Omit<Scan, "from"> & { readonly covered: number },
): Promise<void> {
  const { signal } = ending;
  await handle.until(({ tail, session }) => tail > next || isFinal(session), { signal });
  if (covered <= SMALL_COVERED_BYTES) return;
  const gathered = new AbortController();
  using _timer = clock.timer(GATHER_MS, () => gathered.abort());
  await handle.until(({ tail, session }) => tail >= next + covered / 2 || isFinal(session), {
    signal: AbortSignal.any([signal, gathered.signal]),
  });
}

/** Exact bytes, wherever the chunks are cut. Keeps less than the text is long. */
export class TextScanner implements Scanner {
  readonly #text: string;
  readonly #needle: Buffer;
  /** The end of what was pushed, where a match may have begun. */
  #rest: Buffer = Buffer.alloc(0);
  #end: number | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#needle = Buffer.from(text);
  }

  get covered(): number {
    return this.#rest.length;
  }

  get resume(): number | undefined {
    return this.#end === undefined ? undefined : this.#end - this.#begunLength();
  }

  push(offset: number, bytes: Uint8Array): Found | undefined {
    const from = offset - this.#rest.length;
    const all = Buffer.concat([this.#rest, bytes]);
    const at = all.indexOf(this.#needle);
    if (at >= 0)
      return { offset: from + at, end: from + at + this.#needle.length, text: this.#text };
    this.#rest = all.subarray(Math.max(0, all.length - this.#needle.length + 1));
    this.#end = offset + bytes.length;
    return undefined;
  }

  settle({ isEnd }: { readonly isEnd: boolean }): undefined {
    if (isEnd) this.#rest = Buffer.alloc(0);
  }

  /** How much of the text stands at the end. */
  #begunLength(): number {
    for (let length = this.#rest.length; length > 0; length -= 1) {
      const end = this.#rest.subarray(this.#rest.length - length);
      if (this.#needle.subarray(0, length).equals(end)) return length;
    }
    return 0;
  }
}

/** When a wait ends by itself: its time is over, or nobody waits for it any more. */
export interface WaitEnding extends Disposable {
  /** For both. */
  readonly signal: AbortSignal;
  readonly isOver: boolean;
  /** For what takes long: also a wait without time looks at what is there. */
  readonly searchSignal: AbortSignal | undefined;
  /** Throws when nobody waits any more. */
  throwIfAborted(): void;
}

export function openWaitEnding(
  clock: Clock,
  timeoutMs: number,
  caller: AbortSignal | undefined,
): WaitEnding {
  caller?.throwIfAborted();
  using stack = new DisposableStack();
  const controller = new AbortController();
  if (timeoutMs === 0) controller.abort();
  else stack.use(clock.timer(timeoutMs, () => controller.abort()));
  if (caller !== undefined) stack.use(addAbortListener(caller, () => controller.abort()));
  const owned = stack.move();
  return {
    signal: controller.signal,
    get isOver() {
      return controller.signal.aborted;
    },
    searchSignal: timeoutMs === 0 ? caller : controller.signal,
    throwIfAborted: () => caller?.throwIfAborted(),
    [Symbol.dispose]: () => owned.dispose(),
  };
}

export function hostGone(sessionId: string): Fault {
  const message = `the host of ${sessionId} has gone; ask again to hear what became of it`;
  return new Fault("host_unavailable", message, { details: { session_id: sessionId } });
}
