import { Patience } from "#cli/target/patience.ts";
import { hasEnded, isResumable } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { OperationCalls } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";

export interface FollowedEvent {
  /** Behind the event: where the next one begins. */
  readonly id: number;
  readonly data: AnyEvent;
  /** The line of the log, byte for byte: what is passed on is this and not `data` written anew. */
  readonly text: string;
}

export interface Following {
  readonly since: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Every event from `since` on, each once, until nothing more can come: the session has ended, and if it is an agent,
 * for good. Goes on where it was when the server or the host has gone and come back.
 */
export async function* followEvents(
  client: OperationCalls,
  { session_id }: Pick<Session, "session_id">,
  { since, signal }: Following,
): AsyncGenerator<FollowedEvent, void, void> {
  const patience = new Patience(signal);
  let next = since;
  for (;;) {
    const session = await patience.ask(() =>
      client.call("session.get", { session_id }, { signal }),
    );
    const isLastLook = isOver(session);
    const before = next;
    try {
      const asked = { session_id, since: next, follow: !isLastLook };
      for await (const { id, data, text } of client.stream("session.events", asked, { signal })) {
        next = id ?? next;
        patience.reset();
        yield { id: next, data, text: text ?? JSON.stringify(data) };
        if (isLast(session, data)) return;
      }
      if (isLastLook) return;
      // The host has gone: who asks next starts another one.
      if (next === before) await patience.endure(cutOff(session_id));
    } catch (error) {
      await patience.endure(error);
    }
  }
}

/** Whether nothing more will happen to it. An agent may go on in another life. */
export function isOver(session: Pick<Session, "kind" | "state">): boolean {
  return hasEnded(session) && !isResumable(session);
}

function isLast({ kind }: Session, event: AnyEvent): boolean {
  return event.type === "session.exited" && isOver({ kind, state: event.state });
}

function cutOff(session_id: string): Fault {
  return new Fault("host_unavailable", `the events of ${session_id} broke off`);
}
