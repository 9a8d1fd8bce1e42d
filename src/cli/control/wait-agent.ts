import type { AnyEvent } from "#contract/operations/agent.ts";
import type { StreamItem } from "#contract/operations.ts";
import type { SessionState } from "#contract/session-state.ts";
import { followEvents } from "./follow-events.ts";
import type { Target } from "./target-options.ts";
import type { Wanted } from "./wait-plan.ts";

export interface Waiting extends Pick<Target, "client" | "session"> {
  readonly since: number | "tail" | undefined;
  /** How long is still waited. */
  readonly leftMs: () => number;
}

export interface Outcome {
  readonly matched: boolean;
  readonly for: Wanted["for"];
  /** What matched. */
  readonly text?: string | undefined;
  readonly state?: SessionState | undefined;
  /** The session has ended for good: to wait on is of no use. */
  readonly ended: boolean;
}

type Heard = Extract<Wanted, { for: "idle" | "text" | "regex" }>;

/** The longest that a timer of Node takes. */
const TIMER_MS = 2 ** 31 - 1;

/** By the agent's events: until no turn runs, or until it has said something. */
export async function waitForAgent(waiting: Waiting, wanted: Heard): Promise<Outcome> {
  const late = AbortSignal.timeout(Math.min(TIMER_MS, Math.round(waiting.leftMs())));
  try {
    if (wanted.for === "idle") return await waitForIdle(waiting, late);
    return await waitForWords(waiting, wanted, late);
  } catch (error) {
    if (!late.aborted) throw error;
    return { matched: false, for: wanted.for, ended: false };
  }
}

/** No turn runs, and none is about to: a turn that is done is followed by the next message that waits. */
async function waitForIdle({ client, session }: Waiting, signal: AbortSignal): Promise<Outcome> {
  const { session_id } = session;
  let reason: string | undefined;
  for (;;) {
    const { activity, queue, events_tail } = await client.call("agent.snapshot", { session_id });
    const isNext = reason === "done" && queue.followup.depth > 0;
    if (activity === "idle" && !isNext) return { matched: true, for: "idle", ended: false };
    reason = await findTurnEnd(followEvents(client, session, { since: events_tail, signal }));
    if (reason === undefined) return { matched: true, for: "idle", ended: true };
  }
}

/** How the turn ended; undefined when the session did. */
async function findTurnEnd(
  events: AsyncIterable<{ readonly data: AnyEvent }>,
): Promise<string | undefined> {
  for await (const { data } of events) if (data.type === "turn.ended") return data.reason;
  return undefined;
}

async function waitForWords(
  { client, session, since = 0 }: Waiting,
  wanted: Exclude<Heard, { for: "idle" }>,
  signal: AbortSignal,
): Promise<Outcome> {
  const { session_id } = session;
  using finder = await openFinder(wanted);
  let next = since === "tail" ? session.events_tail : since;
  const search = async (events: AsyncIterable<StreamItem<AnyEvent>>, until?: AbortSignal) => {
    for await (const { id, data } of events) {
      next = id ?? next;
      // What a sub-agent says, it says to the agent.
      if (data.type !== "message.end" || data.subagent_id !== undefined) continue;
      const text = await finder.find(data.text, until);
      if (text !== undefined) return { matched: true, for: wanted.for, text, ended: false };
    }
    return undefined;
  };
  // What was said already counts, however short the wait is.
  const said = client.stream("session.events", { session_id, since: next, follow: false });
  const found = await search(said);
  if (found !== undefined) return found;
  const coming = await search(followEvents(client, session, { since: next, signal }), signal);
  return coming ?? { matched: false, for: wanted.for, ended: true };
}

interface Finder extends Disposable {
  /** What of it was waited for. */
  find(said: string, signal?: AbortSignal): Promise<string | undefined>;
}

async function openFinder(wanted: Exclude<Heard, { for: "idle" }>): Promise<Finder> {
  if (wanted.for === "text")
    return {
      find: async (said) => (said.includes(wanted.text) ? wanted.text : undefined),
      [Symbol.dispose]: () => undefined,
    };
  const { openPatterns } = await import("#app/read/patterns.ts");
  using stack = new DisposableStack();
  const search = await stack.use(openPatterns()).create(wanted.pattern);
  const owned = stack.move();
  return {
    find: async (said, signal) =>
      (await search.find({ bytes: Buffer.from(said), from: 0 }, signal))?.text,
    [Symbol.dispose]: () => owned.dispose(),
  };
}
