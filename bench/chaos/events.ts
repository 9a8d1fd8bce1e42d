import { setTimeout as sleep } from "node:timers/promises";
import type { World } from "#bench/chaos-world/world.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { WholeLog } from "./check-stream.ts";

/** Events as somebody heard them: each with the offset behind it. */
export class EventsSeen {
  readonly name: string;
  readonly items: { readonly id: number; readonly data: AnyEvent; readonly text: string }[] = [];

  constructor(name: string) {
    this.name = name;
  }

  get next(): number {
    return this.items.at(-1)?.id ?? 0;
  }

  /** Whether the session of a command has ended. */
  get hasExit(): boolean {
    return this.items.at(-1)?.data.type === "session.exited";
  }
}

export interface EventsFollow {
  readonly session_id: string;
  readonly seen: EventsSeen;
  readonly signal: AbortSignal;
  readonly untilExit: boolean;
}

const AGAIN_MS = 300;

/** The typed client goes on by itself after a cut; where it has given up we ask from the last event on. */
export async function followEvents(world: World, follow: EventsFollow): Promise<void> {
  const { seen, signal } = follow;
  while (!signal.aborted) {
    try {
      if (await followOnce(world, follow)) return;
    } catch (error) {
      if (signal.aborted) return;
      world.refused(seen.name, error);
    }
    await sleep(AGAIN_MS);
  }
}

/** Answers whether the last event has come. */
async function followOnce(world: World, follow: EventsFollow): Promise<boolean> {
  const { session_id, seen, signal, untilExit } = follow;
  const input = { session_id, since: seen.next };
  const events = world.client("proxy").stream("session.events", input, { signal });
  for await (const { id, data, text } of events) {
    if (id === undefined) continue;
    seen.items.push({ id, data, text: text ?? JSON.stringify(data) });
    if (untilExit && seen.hasExit) return true;
  }
  return untilExit && seen.hasExit;
}

/** Every line of the log up to the last that was heard was heard, once, in its place, as it stands there. */
export function checkEventsSeen({ bytes }: WholeLog, { name, items }: EventsSeen): string[] {
  let next = 0;
  for (const { id, text } of items) {
    if (id <= next) return [`${name}: the event at ${id} comes after ${next}`];
    const lines = bytes.subarray(next, id).toString("utf8").split("\n");
    const last = lines.at(-2);
    if (lines.at(-1) !== "" || last !== text)
      return [`${name}: the event at ${id} is ${text}, in the log ${String(last)}`];
    const missed = lines.slice(0, -2).find((line) => isEvent(line));
    if (missed !== undefined) return [`${name}: it was not told of ${missed}`];
    next = id;
  }
  return [];
}

/** A line that a crash has cut short is nobody's event, and the answers of a worker are for who asked. */
function isEvent(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && !line.startsWith('{"type":"reply"');
  } catch {
    return false;
  }
}
