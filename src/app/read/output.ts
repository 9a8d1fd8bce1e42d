import { setImmediate } from "node:timers/promises";
import type { Caller } from "#app/caller.ts";
import { openVisible } from "#app/visible-session.ts";
import type { Clock } from "#base/clock.ts";
import { channels } from "#contract/channels.ts";
import { isFinal } from "#contract/ended.ts";
import { limits } from "#contract/limits.ts";
import type { OutputRange } from "#contract/operations/reading.ts";
import type { OperationInput, Operations } from "#contract/operations.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";
import { borrow } from "./range-buffers.ts";

interface OutputDeps {
  readonly hosts: SessionHosts;
  readonly clock: Clock;
}

/** After so many bytes the others of the process get their turn. */
const TURN_BYTES = 1024 * 1024;

export function createOutputOperations(
  { hosts, clock }: OutputDeps,
  caller: Caller,
): Pick<Operations, "session.output"> {
  return {
    "session.output": async (input, { signal } = {}) => {
      using handle = await openVisible(hosts, caller, input.session_id);
      const since = resolveSince(handle, input.since);
      if (input.wait_ms !== undefined && input.wait_ms > 0)
        await waitForMore(handle, since, { clock, ms: input.wait_ms, signal });
      return await readRange(handle, since, input);
    },
  };
}

/** `tail` is the end as it is now; absent is the first byte that is kept. Throws for what lies behind the end. */
export function resolveSince(handle: SessionHandle, since: number | "tail" | undefined): number {
  if (since === undefined) return handle.output.first();
  if (since === "tail") return handle.tail;
  // The files may be ahead of what the host has told us.
  if (since > handle.tail) handle.output.read(since, { limit: 1 });
  return since;
}

interface Patience {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal | undefined;
}

async function waitForMore(
  handle: SessionHandle,
  since: number,
  { clock, ms, signal }: Patience,
): Promise<void> {
  const limit = new AbortController();
  using _timer = clock.timer(ms, () => limit.abort());
  const either = signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]);
  await handle.until(({ tail, session }) => tail > since || isFinal(session), { signal: either });
}

async function readRange(
  handle: SessionHandle,
  since: number,
  { limit = limits.output_range_default_bytes, channel }: OperationInput<"session.output">,
): Promise<OutputRange> {
  const { output, session } = handle;
  // The state before the tail: what is final now has no byte behind the tail that we read next.
  const hasEnded = isFinal(session);
  const tail = hasEnded ? Math.max(handle.tail, output.tail()) : handle.tail;
  const gap = findGap(output, since, tail);
  const offset = gap?.to ?? since;
  const into = borrow(Math.max(1, Math.min(limit, tail - offset)));
  const wanted = channel === undefined ? undefined : channels[channel];
  const { next, filled } = await fill(output, into, { offset, tail, wanted });
  const state = session.state.kind;
  // A range that stops short of the end is not the last one, even when the session has ended.
  const final = hasEnded && next >= tail;
  return { offset, next, tail, gap, state, final, bytes: into.subarray(0, filled) };
}

/** What was asked for begins in bytes that are no longer kept. */
function findGap(output: SessionHandle["output"], since: number, tail: number): OutputRange["gap"] {
  const first = output.read(since, { limit: 1, tail });
  return first?.kind === "gap" ? { from: first.from, to: first.to } : null;
}

interface Wanted {
  readonly offset: number;
  readonly tail: number;
  /** Of one channel only; the others are passed over. */
  readonly wanted: number | undefined;
}

/** Up to the end of the buffer, of the output, or to the next gap. */
async function fill(
  output: SessionHandle["output"],
  into: Buffer,
  { offset, tail, wanted }: Wanted,
): Promise<{ readonly next: number; readonly filled: number }> {
  let next = offset;
  let filled = 0;
  let turn = 0;
  while (filled < into.length) {
    const rest = into.subarray(filled);
    const chunk = output.read(next, { limit: rest.length, tail, into: rest });
    if (chunk === undefined || chunk.kind === "gap") break;
    const { length } = chunk.bytes;
    next += length;
    turn += length;
    if (wanted === undefined || chunk.channel === wanted) filled += length;
    if (turn < TURN_BYTES || filled === into.length) continue;
    turn = 0;
    await setImmediate();
  }
  return { next, filled };
}
