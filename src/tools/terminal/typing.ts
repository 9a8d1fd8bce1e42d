import type { SessionOperations } from "#app/session.ts";
import type { Clock } from "#base/clock.ts";
import { pause } from "#base/pause.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { LogReader, SessionHandle } from "#session/session-host.ts";
import { waitForOutput, waitForQuiet } from "./quiet.ts";

/**
 * Typing goes in parts, as from hands: programs take what arrives at once for a paste, in which Enter does not submit,
 * and what follows Escape at once for a key with Alt.
 */
export type Part =
  | { readonly kind: "text"; readonly bytes: string }
  | { readonly kind: "key"; readonly bytes: string };

interface Typist {
  readonly handle: SessionHandle;
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
const turns = new WeakMap<LogReader, Promise<void>>();

/** Runs alone among those who type into this session. */
export async function takeTurn<T>({ output }: SessionHandle, run: () => Promise<T>): Promise<T> {
  const before = turns.get(output);
  const { promise, resolve } = Promise.withResolvers<void>();
  turns.set(output, promise);
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
  const { handle, input, takeover = false, clock, signal = new AbortController().signal } = typist;
  const { session_id } = handle.session;
  await typeBy(
    {
      tail: () => handle.tail,
      input: (data) => input({ session_id, data, ...(takeover ? { takeover } : {}) }),
      pause: (ms) => pause(clock, ms, signal),
      settle: async (tail, { longestMs, quietMs }) => {
        const over = new AbortController();
        using _timer = clock.timer(longestMs, () => over.abort());
        const listening = { handle, clock, signal: AbortSignal.any([signal, over.signal]) };
        if (await waitForOutput(listening, { beyond: tail, longestMs }))
          await waitForQuiet(listening, quietMs);
      },
      signal,
    },
    parts,
  );
}

/** The calls that typing needs of a session, in this process or behind a server. */
interface Hands {
  /** Where its output ends now. */
  tail(): number | Promise<number>;
  input(data: string, index: number): Promise<unknown>;
  pause(ms: number): Promise<unknown>;
  /** Until the program has printed something behind the tail and is quiet again, or the time is over. */
  settle(tail: number, gap: Gap): Promise<unknown>;
  readonly signal?: AbortSignal | undefined;
}

/** The parts one by one: each when the program has taken in the one before. */
export async function typeBy(hands: Hands, parts: readonly Part[]): Promise<void> {
  for (const [index, part] of parts.entries()) {
    hands.signal?.throwIfAborted();
    const isLast = index === parts.length - 1;
    const tail = isLast ? 0 : await hands.tail();
    await hands.input(part.bytes, index).catch((error: unknown) => {
      throw describeRefusal(error, { typed: index, parts: parts.length });
    });
    if (isLast) return;
    if (part.kind === "key" && part.bytes === ESCAPE) await hands.pause(ESCAPE_GAP_MS);
    else await hands.settle(tail, part.kind === "text" ? TEXT_GAP : KEY_GAP);
  }
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
