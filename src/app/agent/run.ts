import type { Caller } from "#app/caller.ts";
import { followEventLines, isReply } from "#app/read/event-lines.ts";
import { isCut } from "#contract/conversation/turn-outcome.ts";
import { Fault } from "#contract/fault.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { OperationInput, StreamItem } from "#contract/operations.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { type AgentDeps, openVisibleAgent, recordAgent } from "./visible-agent.ts";
import { noteSent } from "./worker-operations.ts";

interface Run {
  readonly input: OperationInput<"agent.run">;
  readonly signal: AbortSignal | undefined;
}

/** Sends, and gives the events of the turn up to its end. Who stops reading does not stop the turn. */
export async function runAgent(
  deps: AgentDeps,
  caller: Caller,
  { input, signal }: Run,
): Promise<AsyncIterable<StreamItem<AnyEvent>>> {
  using stack = new DisposableStack();
  const { session_id, ...request } = input;
  const { session, handle } = stack.use(await openVisibleAgent(deps, caller, session_id));
  await deps.agents.lives.ensure(session_id, caller.where);
  // Behind the start of this life, and before anything that we cause.
  const before = await deps.agents.views.read(handle, ({ next }) => next);
  const { status, turn_id } = await deps.agents.ask(
    { session_id, type: "messages", input: request, signal },
    caller.where,
  );
  const note = noteSent("message")(input, { status });
  if (note !== undefined) recordAgent(deps, caller, { ...note, session });
  if (turn_id === undefined)
    throw new Fault("conflict", "these messages were sent before, and their turn is not known");
  // What was sent before has its turn further up.
  const { began, answered } = await deps.agents.views.read(handle, (view) => ({
    began: view.findTurn(turn_id),
    answered: view.next,
  }));
  const from = status === "duplicate" ? (began ?? before) : before;
  return followTurn(handle, { from, answered, turn_id, signal }, stack.move());
}

interface Following {
  readonly from: number;
  /** Where the log was when the worker had taken the messages: lives that ended before are not ours. */
  readonly answered: number;
  readonly turn_id: string;
  readonly signal: AbortSignal | undefined;
}

async function* followTurn(
  handle: SessionHandle,
  { from, answered, turn_id, signal }: Following,
  owned: DisposableStack,
): AsyncGenerator<StreamItem<AnyEvent>, void, void> {
  using _owned = owned;
  let hasBegun = false;
  for await (const { end, value, text } of followEventLines(handle, from, signal)) {
    if (value === undefined || isReply(value)) continue;
    // The worker and the host have written it by the same schema.
    const event = value as AnyEvent;
    yield { id: end, data: event, text };
    const isOwn = isOurs(event, turn_id);
    hasBegun ||= isOwn;
    if (isOwn && event.type === "turn.ended") return;
    if (isCut(event) && (hasBegun || end > answered)) return;
  }
  if (signal?.aborted !== true) throw hostGone();
}

function isOurs(event: AnyEvent, turnId: string): boolean {
  return "turn_id" in event && event.turn_id === turnId && event.subagent_id === undefined;
}

function hostGone(): Fault {
  return new Fault("host_unavailable", "the host has gone away; the turn's events are in its log");
}
