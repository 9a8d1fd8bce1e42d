import type { Caller } from "#app/caller.ts";
import { openVisible } from "#app/visible-session.ts";
import type { Clock } from "#base/clock.ts";
import { hasEnded } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { OperationInput, OperationOutput, Operations } from "#contract/operations.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";
import type { Patterns } from "./patterns.ts";
import { CONTEXT_BYTES, PatternScanner } from "./wait-pattern.ts";
import { waitForQuestion } from "./wait-question.ts";
import {
  type Found,
  hostGone,
  openWaitEnding,
  type Scan,
  type Scanner,
  scan,
  TextScanner,
  type WaitEnding,
} from "./wait-scan.ts";

interface WaitDeps {
  readonly hosts: SessionHosts;
  readonly patterns: Patterns;
  readonly clock: Clock;
}

type Input = OperationInput<"session.wait">;

interface Wait {
  readonly deps: WaitDeps;
  readonly handle: SessionHandle;
  readonly ending: WaitEnding;
  readonly input: Input;
  readonly signal: AbortSignal | undefined;
}

interface Outcome extends Found {
  readonly matched: boolean;
}

/** Handlers are made for each caller, the bound is on all that share the hosts. */
const waitsOn = new WeakMap<SessionHosts, number>();

/** A wait is a cursor on the log: it reads what is there, then follows the tail until what it waits for has come. */
export function createWaitOperations(
  deps: WaitDeps,
  caller: Caller,
): Pick<Operations, "session.wait"> {
  return {
    "session.wait": async (input, { signal } = {}) => {
      using _slot = takeSlot(deps.hosts);
      using handle = await openVisible(deps.hosts, caller, input.session_id);
      using ending = openWaitEnding(deps.clock, input.timeout_ms, signal);
      const outcome = await kinds[input.for]({ deps, handle, ending, input, signal });
      ending.throwIfAborted();
      return toResult(input, handle, outcome);
    },
  };
}

const kinds: Readonly<Record<Input["for"], (wait: Wait) => Promise<Outcome>>> = {
  exit: waitForExit,
  output: waitForOutput,
  idle: waitForIdle,
  text: waitForText,
  regex: waitForPattern,
  needs_answer: async ({ handle, ending }) =>
    atTail(handle, { matched: await waitForQuestion(handle, ending) }),
};

async function waitForExit({ handle, ending }: Wait): Promise<Outcome> {
  await handle.until(({ session }) => hasEnded(session), ending);
  const { state } = handle.session;
  if (state.kind === "exited") return { matched: true, offset: state.tail, end: state.tail };
  if (state.kind !== "lost") refuseGone(handle, ending);
  return atTail(handle, { matched: state.kind === "lost" });
}

async function waitForOutput(wait: Wait): Promise<Outcome> {
  const since = startOf(wait.handle, wait.input.since);
  const found = await scan(scanOf(wait, since), anyByte);
  if (found === undefined) return atTail(wait.handle, { matched: false });
  return { matched: true, offset: found.offset, end: Math.max(found.end, wait.handle.tail) };
}

/**
 * Silence is measured from the start of the wait or the last output that came during it, never from before: who types
 * and then waits for silence does not hear of the one before he typed. What has exited is silent.
 */
async function waitForIdle({ deps, handle, ending, input }: Wait): Promise<Outcome> {
  for (;;) {
    const heard = handle.tail;
    if (hasEnded(handle.session)) return atTail(handle, { matched: true });
    const silence = new AbortController();
    using _timer = deps.clock.timer(input.idle_ms ?? 0, () => silence.abort());
    await handle.until(({ tail, session }) => tail > heard || hasEnded(session), {
      signal: AbortSignal.any([ending.signal, silence.signal]),
    });
    if (handle.tail > heard && !ending.isOver) continue;
    if (silence.signal.aborted || hasEnded(handle.session))
      return atTail(handle, { matched: true });
    refuseGone(handle, ending);
    return atTail(handle, { matched: false });
  }
}

function waitForText(wait: Wait): Promise<Outcome> {
  const since = startOf(wait.handle, wait.input.since);
  return find(scanOf(wait, since), new TextScanner(wait.input.text ?? ""), since);
}

async function waitForPattern(wait: Wait): Promise<Outcome> {
  const { handle, deps, input, ending } = wait;
  const search = await deps.patterns.create(input.pattern ?? "");
  const since = startOf(handle, input.since);
  // Also what is before, as far as it is kept: the middle of a line is not its start.
  const from = Math.max(Math.min(since, handle.output.first()), since - CONTEXT_BYTES);
  const scanner = new PatternScanner(search, { since, signal: ending.searchSignal });
  try {
    return await find(scanOf(wait, from), scanner, since);
  } catch (error) {
    // The time is over while a search waits for its turn.
    if (!ending.isOver || error !== ending.signal.reason) throw error;
    const place = scanner.resume ?? since;
    return { matched: false, offset: place, end: place };
  }
}

async function find(where: Scan, scanner: Scanner, since: number): Promise<Outcome> {
  const found = await scan(where, scanner);
  if (found !== undefined) return { matched: true, ...found };
  const place = scanner.resume ?? since;
  return { matched: false, offset: place, end: place };
}

const anyByte: Scanner = {
  push: (offset, bytes) => ({ offset, end: offset + bytes.length }),
  settle: () => undefined,
  covered: 0,
  resume: undefined,
};

function scanOf({ deps, handle, ending }: Wait, from: number): Scan {
  return { handle, ending, clock: deps.clock, from };
}

function startOf(handle: SessionHandle, since: Input["since"]): number {
  if (since === "tail") return handle.tail;
  if (since === undefined) return handle.output.first();
  // Refused here, with what would have been right.
  handle.output.read(since, { limit: 1, tail: handle.tail });
  return since;
}

function atTail(handle: SessionHandle, { matched }: { readonly matched: boolean }): Outcome {
  return { matched, offset: handle.tail, end: handle.tail };
}

function refuseGone(handle: SessionHandle, ending: WaitEnding): void {
  if (handle.state === "closed" && !ending.isOver) throw hostGone(handle.session.session_id);
}

function toResult(
  input: Input,
  { session, tail }: SessionHandle,
  outcome: Outcome,
): OperationOutput<"session.wait"> {
  return { ...outcome, for: input.for, tail, state: session.state };
}

/** Throws `too_many`; whoever waits on these hosts holds one. */
export function takeSlot(hosts: SessionHosts): Disposable {
  const taken = waitsOn.get(hosts) ?? 0;
  if (taken >= limits.waits)
    throw new Fault(
      "too_many",
      `${limits.waits} waits are under way; try again when one has ended`,
    );
  waitsOn.set(hosts, taken + 1);
  return {
    [Symbol.dispose]: () => void waitsOn.set(hosts, (waitsOn.get(hosts) ?? 1) - 1),
  };
}
