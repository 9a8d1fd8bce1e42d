import type { SessionFeed } from "#app/live/session-feeds.ts";
import type { SessionOperations } from "#app/session.ts";
import type { Clock } from "#base/clock.ts";
import { pause } from "#base/pause.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Watch } from "#host/socket/watch.ts";
import { waitForOutput, waitForQuiet } from "./quiet.ts";

/**
 * Typing goes in parts, as from hands: programs take what arrives at once for a paste, in which Enter does not submit,
 * and what follows Escape at once for a key with Alt.
 */
export type Part =
  | { readonly kind: "text"; readonly bytes: string }
  | { readonly kind: "key"; readonly bytes: string };

export interface Typist {
  readonly feed: SessionFeed;
  readonly clock: Clock;
  readonly input: SessionOperations["session.input"];
  readonly takeover?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Gap {
  /** For the program to show something. */
  readonly longestMs: number;
  /** Then for it to stop. */
  readonly quietMs: number;
}

const ESCAPE = "\x1b";
/** Longer than editors wait for the rest of a sequence. */
const ESCAPE_GAP_MS = 150;
const TEXT_GAP: Gap = { longestMs: 250, quietMs: 30 };
const KEY_GAP: Gap = { longestMs: 40, quietMs: 10 };

/** One types at a time: parts of two calls in each other would be neither's. */
const turns = new WeakMap<Watch, Promise<void>>();

/** Runs alone among those who type into this session. */
export async function takeTurn<T>({ watch }: SessionFeed, run: () => Promise<T>): Promise<T> {
  const before = turns.get(watch);
  const { promise, resolve } = Promise.withResolvers<void>();
  turns.set(watch, promise);
  try {
    await before;
    return await run();
  } finally {
    resolve();
  }
}

export function checkLength(parts: readonly Part[]): void {
  const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part.bytes), 0);
  if (bytes <= limits.input_bytes) return;
  const message = `text: ${bytes} bytes are more than can be typed at once, which is ${limits.input_bytes}; send it in parts`;
  throw new Fault("payload_too_large", message, { details: { limit: limits.input_bytes } });
}

export async function typeParts(typist: Typist, parts: readonly Part[]): Promise<void> {
  const { feed, input, takeover = false } = typist;
  const { session_id } = feed.session;
  for (const [index, part] of parts.entries()) {
    typist.signal?.throwIfAborted();
    const tail = feed.watch.tail;
    await input({ session_id, data: part.bytes, ...(takeover ? { takeover } : {}) }).catch(
      (error: unknown) => {
        throw describeRefusal(error, { typed: index, parts: parts.length });
      },
    );
    if (index < parts.length - 1) await waitBehind(typist, part, tail);
  }
}

async function waitBehind(typist: Typist, part: Part, tail: number): Promise<void> {
  const { feed, clock, signal = new AbortController().signal } = typist;
  if (part.kind === "key" && part.bytes === ESCAPE) {
    await pause(clock, ESCAPE_GAP_MS, signal);
    return;
  }
  const { longestMs, quietMs } = part.kind === "text" ? TEXT_GAP : KEY_GAP;
  const over = new AbortController();
  using _timer = clock.timer(longestMs, () => over.abort());
  const listening = { feed, clock, signal: AbortSignal.any([signal, over.signal]) };
  if (await waitForOutput(listening, { beyond: tail, longestMs }))
    await waitForQuiet(listening, quietMs);
}

function describeRefusal(
  error: unknown,
  { typed, parts }: { readonly typed: number; readonly parts: number },
): unknown {
  if (!(error instanceof Fault)) return error;
  const how = typed === 0 ? "" : ` (${typed} of ${parts} parts were typed before)`;
  const details = { ...error.details, typed, parts };
  return new Fault(error.code, `${error.message}${how}`, { details });
}
