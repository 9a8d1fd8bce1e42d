import { setTimeout as sleep } from "node:timers/promises";
import type { World } from "#bench/chaos-world/world.ts";
import type { AttachEvent } from "#client/attach/frames.ts";
import { followByProgram, type ProgramKind } from "./program-follower.ts";
import type { Recorder } from "./recorder.ts";

export const followerKinds = [
  "socket",
  "json",
  "slow",
  "poll",
  "client",
  "logs",
  "attach",
] as const;
export type FollowerKind = (typeof followerKinds)[number];

export interface Follow {
  readonly kind: FollowerKind;
  readonly session_id: string;
  readonly recorder: Recorder;
  readonly signal: AbortSignal;
}

const PING_MS = 1500;
const WAIT_MS = 3000;
const AGAIN_MS = 200;
/** A reader that takes its time is cut off and comes back at this much. */
const SLOW_QUEUE_BYTES = 64 * 1024;
const SLOW_MS = 30;

/** Reads a session from its first byte to its end, through everything that happens meanwhile. */
export async function followSession(world: World, follow: Follow): Promise<void> {
  const { kind } = follow;
  switch (kind) {
    case "socket":
    case "json":
    case "slow":
      return await followBySocket(world, follow);
    case "poll":
      return await followByPolling(world, follow);
    default:
      return await followByProgram(world, { ...follow, kind: kind satisfies ProgramKind });
  }
}

async function followBySocket(world: World, follow: Follow): Promise<void> {
  const { kind, recorder, signal } = follow;
  while (recorder.end === undefined && !signal.aborted) {
    const given = await attachOnce(world, follow);
    if (given === undefined) continue;
    world.journal(`${recorder.name} failed: ${given}`);
    recorder.problems.push(`${recorder.name} (${kind}): gave up: ${given}`);
    await sleep(AGAIN_MS);
  }
}

/** Answers why it gave up. */
async function attachOnce(world: World, follow: Follow): Promise<string | undefined> {
  const { kind, session_id, recorder, signal } = follow;
  await using attached = world.client("proxy").attach(session_id, {
    since: recorder.next,
    binary: kind !== "json",
    pingMs: PING_MS,
    signal,
    ...(kind === "slow" ? { queueBytes: SLOW_QUEUE_BYTES } : {}),
  });
  let holdMs = 0;
  const reader = {
    holdFor: (ms: number) => {
      holdMs = ms;
    },
  };
  world.readers.add(reader);
  using _reader = { [Symbol.dispose]: () => world.readers.delete(reader) };
  for await (const event of attached) {
    if (event.type === "failed") return `${event.fault.code} ${event.fault.message}`;
    takeEvent(recorder, event);
    const wait = holdMs + (kind === "slow" ? SLOW_MS : 0);
    holdMs = 0;
    if (wait > 0) await sleep(wait);
  }
  return undefined;
}

export function takeEvent(recorder: Recorder, event: AttachEvent): void {
  if (event.type === "output") recorder.piece(event);
  if (event.type === "gap") recorder.gap(event);
  if (event.type === "exit") recorder.exit(event);
  if (event.type === "connected" || event.type === "restored" || event.type === "control")
    recorder.generation(event.generation);
}

async function followByPolling(world: World, follow: Follow): Promise<void> {
  const { session_id, recorder, signal } = follow;
  const client = world.client("proxy");
  while (!signal.aborted) {
    try {
      const since = recorder.next;
      const range = await client.output({ session_id, since, wait_ms: WAIT_MS }, { signal });
      const { gap, offset, bytes, next, tail, state } = range;
      if (gap !== null) recorder.gap(gap);
      if (bytes.length > 0) recorder.piece({ channel: undefined, offset, bytes });
      const isOver = state === "exited" || state === "lost";
      if (isOver && next === tail) return;
    } catch (error) {
      if (signal.aborted) return;
      world.refused(recorder.name, error);
      await sleep(AGAIN_MS);
    }
  }
}
