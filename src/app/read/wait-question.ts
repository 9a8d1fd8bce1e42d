import type { SessionFeed } from "#app/live/session-feeds.ts";
import { Fault } from "#contract/fault.ts";
import { readRange } from "#log/follow.ts";
import { type LogLine, lines } from "#log/lines.ts";
import { hostGone, type WaitEnding } from "./wait-scan.ts";

const CHUNK_BYTES = 64 * 1024;
/** An agent asks a handful at a time; beyond this the oldest are forgotten. */
const QUESTIONS = 1000;

/** An event that asks or answers, by the name of the field that says which. */
const questions: Readonly<Record<string, { readonly key: string; readonly isOpen: boolean }>> = {
  "approval.requested": { key: "approval_id", isOpen: true },
  "approval.resolved": { key: "approval_id", isOpen: false },
  "elicitation.requested": { key: "elicitation_id", isOpen: true },
  "elicitation.resolved": { key: "elicitation_id", isOpen: false },
};

/** True once the agent waits for an answer; one that has ended waits for none. */
export async function waitForQuestion(feed: SessionFeed, ending: WaitEnding): Promise<boolean> {
  const { watch, events, session } = feed;
  if (session.kind !== "agent")
    throw new Fault(
      "unsupported",
      `only an agent asks questions, and ${session.session_id} is a ${session.kind}; wait for its output instead`,
    );
  const open = new Set<string>();
  let next = events.first();
  for (;;) {
    const isEnd = hasEnded(feed);
    const { isClosed } = watch;
    const to = isClosed ? Math.max(watch.eventsTail, events.tail()) : watch.eventsTail;
    for await (const line of lines(readRange(events, next, { to, limit: CHUNK_BYTES }))) {
      ending.throwIfAborted();
      note(open, line);
      next = behind(line);
    }
    if (isEnd || open.size > 0 || ending.isOver) return open.size > 0 && !isEnd;
    if (isClosed) throw hostGone(session.session_id);
    await watch.until(({ eventsTail }) => eventsTail > to || hasEnded(feed), {
      signal: ending.signal,
    });
  }
}

function hasEnded({ session }: SessionFeed): boolean {
  return session.state.kind === "exited" || session.state.kind === "lost";
}

function note(open: Set<string>, line: LogLine): void {
  if (line.kind !== "line") return;
  const { type } = line.value;
  const question =
    typeof type === "string" && Object.hasOwn(questions, type) ? questions[type] : undefined;
  const id = question === undefined ? undefined : line.value[question.key];
  if (question === undefined || typeof id !== "string") return;
  const name = `${question.key} ${id}`;
  if (!question.isOpen) open.delete(name);
  else open.add(name);
  const [oldest] = open;
  if (open.size > QUESTIONS && oldest !== undefined) open.delete(oldest);
}

/** Half a line is read again with its rest. */
function behind(line: LogLine): number {
  if (line.kind === "line") return line.end_offset;
  return line.reason === "unfinished" ? line.from : line.to;
}
