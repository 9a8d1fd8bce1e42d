import { DELIBERATE_END_REASONS, isSleeping } from "#contract/ended.ts";
import { limits } from "#contract/limits.ts";
import type {
  SessionNeed,
  SessionState,
  SessionStatus,
  SessionTurn,
  SessionUsage,
} from "#contract/session-state.ts";
import { findLastLine, toPlainLine } from "#contract/text/plain-line.ts";
import { findExit } from "#contract/tools/process-text.ts";

/**
 * The status of an agent as its events tell it. The host reduces the lines that pass through it and keeps the result in
 * the session's record; a line that is not an event, or is one of a newer worker, changes nothing. No zod in here.
 *
 *   session.resumed ─> agent.info ─> turn.started ─> (approval | elicitation).requested ─> .resolved ─> turn.ended
 *                                        └── session.exited, not by itself with 0: the turn is cut, its questions are void
 */
export interface AgentStatus {
  readonly needs: readonly AgentNeed[];
  /** The last thing it said or did; while it asks, `describeStatus` shows the question instead. */
  readonly last_line: string;
  readonly turn: SessionTurn | null;
  readonly usage: SessionUsage | null;
  readonly agent: string | null;
  readonly model: string | null;
  /** The ids of accepted messages that wait for their turn. */
  readonly queue: readonly string[];
  /** The newest worker has said who it is. One that never got there has changed nothing. */
  readonly has_begun: boolean;
  /** The last worker that had begun ended in the middle of something. */
  readonly is_cut: boolean;
  /** The last turn was stopped, so waiting messages wait for the next one. */
  readonly is_held: boolean;
  /** Ends that were not the worker's own choice, since a turn last ended by itself. */
  readonly crashes: number;
  /** The line of the answer that is being written. */
  readonly partial: { readonly message_id: string; readonly text: string } | null;
}

interface AgentNeed extends SessionNeed {
  /** The sub-agent that asks. */
  readonly subagent_id?: string | undefined;
}

export const emptyAgentStatus: AgentStatus = {
  needs: [],
  last_line: "",
  turn: null,
  usage: null,
  agent: null,
  model: null,
  queue: [],
  has_begun: false,
  is_cut: false,
  is_held: false,
  crashes: 0,
  partial: null,
};

/** Anything that a line may hold. */
export type StatusEvent = Readonly<Record<string, unknown>>;
type Change = Partial<AgentStatus> | undefined;
type Reducer = (status: AgentStatus, event: StatusEvent) => Change;

/** An agent asks a handful at a time; beyond this the oldest are dropped. */
const NEEDS = 100;
const QUEUED = limits.steer_queue + limits.followup_queue;
/** Enough of a line for `toPlainLine` to cut it. */
const PARTIAL_CHARS = 4 * limits.glance_chars;

/** The same object where the event says nothing about the status. */
export function reduceAgentStatus(status: AgentStatus, event: StatusEvent): AgentStatus {
  const { type, subagent_id } = event;
  if (typeof type !== "string") return status;
  const change =
    reducers.get(type)?.(status, event) ??
    (subagent_id === undefined ? ownReducers.get(type)?.(status, event) : undefined);
  return change === undefined ? status : { ...status, ...change };
}

/** A line of any other type can be skipped without parsing it. */
export function isStatusType(type: string): boolean {
  return reducers.has(type) || ownReducers.has(type);
}

/** Accepted messages wait that a worker takes up by itself as soon as it begins. */
export function hasWork({ queue, is_held, turn, is_cut }: AgentStatus): boolean {
  return queue.length > 0 && !is_held && (turn === null || is_cut);
}

/** A process that has the keys should start the next worker: messages wait, and crashes have not used up the restarts. */
export function isRestartDue(status: AgentStatus): boolean {
  return hasWork(status) && status.crashes <= limits.agent_crash_restarts;
}

/** Whether a turn runs, waits for an answer, or there is nothing to do. */
export function activityOf(status: AgentStatus): "idle" | "running" | "waiting" {
  if (status.is_cut) return isRestartDue(status) ? "running" : "idle";
  if (status.needs.length > 0) return "waiting";
  // Between two turns the worker is about to take up the next message.
  return status.turn !== null || hasWork(status) ? "running" : "idle";
}

export interface DescribedStatus {
  readonly status: SessionStatus;
  readonly needs: SessionNeed[];
  readonly last_line: string;
  readonly turn: SessionTurn | null;
  readonly usage: SessionUsage | null;
}

/** The fields of an agent's session. */
export function describeStatus(state: SessionState, agent: AgentStatus): DescribedStatus {
  const status = nameAgentStatus(state, agent);
  const isEnded = status === "ended";
  const asked = isEnded ? undefined : agent.needs.at(-1);
  return {
    status,
    needs: isEnded ? [] : agent.needs.map(withoutAsker),
    last_line: asked === undefined ? agent.last_line : toPlainLine(`asks: ${asked.summary}`),
    turn: isEnded ? null : agent.turn,
    usage: agent.usage,
  };
}

export function nameAgentStatus(state: SessionState, agent: AgentStatus): SessionStatus {
  const isOver = state.kind === "exited" || state.kind === "lost";
  if (isOver && DELIBERATE_END_REASONS.includes(state.reason)) return "ended";
  if (agent.needs.length > 0) return "needs_you";
  if (isSleeping({ state })) return "sleeping";
  if (isOver) return isRestartDue(agent) ? "working" : "ended";
  if (state.kind === "starting" || !agent.has_begun) return "starting";
  return agent.turn !== null || hasWork(agent) ? "working" : "idle";
}

/** Sub-agents count here: they ask the same people and use up the same budget. */
const reducers = new Map<string, Reducer>([
  ["approval.requested", (status, event) => ask(status, event, approvalOf(event))],
  ["elicitation.requested", (status, event) => ask(status, event, questionOf(event))],
  ["approval.resolved", (status, { approval_id }) => answer(status, isNeed(approval_id, false))],
  [
    "elicitation.resolved",
    (status, { elicitation_id }) => answer(status, isNeed(elicitation_id, true)),
  ],
  [
    "subagent.started",
    (_status, { name, task }) => tell(`sub-agent ${textOf(name)}: ${textOf(task)}`),
  ],
  [
    "subagent.ended",
    ({ needs }, { subagent_id }) => ({ needs: withoutQuestionsOf(needs, subagent_id) }),
  ],
  ["usage.updated", (status, event) => use(status, event)],
  ["session.opened", () => ({ has_begun: false })],
  ["session.resumed", () => ({ has_begun: false })],
  ["session.exited", (status, { state }) => exit(status, state)],
]);

/** Other events of a sub-agent are not part of the session's own conversation. */
const ownReducers = new Map<string, Reducer>([
  [
    "agent.info",
    (_status, { name, model }) => ({
      ...{ agent: textOf(name), model: textOf(model) },
      ...{ has_begun: true, is_cut: false },
    }),
  ],
  ["agent.switched", (_status, { to }) => ({ agent: textOf(to) })],
  [
    "turn.started",
    (_status, { turn_id, at }) => ({
      turn: { turn_id: textOf(turn_id), started_at: textOf(at) },
      ...{ has_begun: true, is_cut: false, is_held: false },
    }),
  ],
  ["turn.ended", (status, { reason }) => endTurn(status, reason)],
  [
    "message.user",
    ({ queue }, { queue_id }) =>
      queue.includes(textOf(queue_id))
        ? { queue: queue.filter((id) => id !== queue_id) }
        : undefined,
  ],
  ["queue.changed", ({ queue }, event) => ({ queue: changeQueue(queue, event) })],
  ["message.delta", (status, event) => grow(status, event)],
  ["message.end", (_status, { text }) => ({ ...tell(findLastLine(textOf(text))), partial: null })],
  ["tool.call.end", (_status, { tool, input }) => tell(describeCall(tool, input))],
  ["tool.result", (_status, event) => tellFailure(event)],
  ["limit.reached", (_status, { message }) => tell(textOf(message))],
  ["error", (_status, { message }) => tell(`error: ${textOf(message)}`)],
]);

/** The tool and its argument say more in a line than the reason for the question. */
function approvalOf({ approval_id, kind, tool, input, message }: StatusEvent): Asked {
  return {
    id: approval_id,
    kind: kind === "tool" || kind === undefined ? "approval" : "limit",
    summary: typeof tool === "string" ? `${tool} ${firstText(input)}` : textOf(message),
  };
}

function questionOf({ elicitation_id, message }: StatusEvent): Asked {
  return { id: elicitation_id, kind: "question", summary: textOf(message) };
}

interface Asked {
  readonly id: unknown;
  readonly kind: SessionNeed["kind"];
  readonly summary: string;
}

/** A question that the next worker repeats keeps its age. */
function ask({ needs }: AgentStatus, { at, subagent_id }: StatusEvent, asked: Asked): Change {
  const { id, kind } = asked;
  if (typeof id !== "string") return undefined;
  const isSame = isNeed(id, kind === "question");
  const need: AgentNeed = {
    ...{ id, kind, summary: toPlainLine(asked.summary) },
    since: needs.find(isSame)?.since ?? textOf(at),
    ...(typeof subagent_id === "string" ? { subagent_id } : {}),
  };
  const others = needs.filter((other) => !isSame(other));
  // A worker that asks has begun.
  return { needs: [...others, need].slice(-NEEDS), has_begun: true };
}

function answer({ needs }: AgentStatus, isAnswered: (need: AgentNeed) => boolean): Change {
  return needs.some(isAnswered) ? { needs: needs.filter((need) => !isAnswered(need)) } : undefined;
}

/** Approvals and questions have ids of their own. */
function isNeed(id: unknown, isQuestion: boolean): (need: AgentNeed) => boolean {
  return (need) => need.id === id && (need.kind === "question") === isQuestion;
}

/** An agent that has ended waits for no answer. */
function withoutQuestionsOf(needs: readonly AgentNeed[], subagentId: unknown) {
  return needs.filter(({ subagent_id }) => subagent_id !== subagentId);
}

/** Only the next worker ends a turn that is cut. A crash stops a turn without intent, so it holds no message. */
function endTurn({ needs, is_cut, crashes }: AgentStatus, reason: unknown): Change {
  return {
    needs: withoutQuestionsOf(needs, undefined),
    turn: null,
    is_held: reason !== "done" && !is_cut,
    crashes: is_cut ? crashes : 0,
    is_cut: false,
    partial: null,
  };
}

/** A worker that ends before it begins has neither repaired a cut nor made one. */
function exit({ crashes, has_begun }: AgentStatus, state: unknown): Change {
  if (typeof state !== "object" || state === null) return undefined;
  // Only compared with literals.
  if (isSleeping({ state: state as SessionState })) return { partial: null };
  const cut = { needs: [], turn: null, is_cut: true, partial: null };
  return { crashes: crashes + 1, ...(has_begun ? cut : {}) };
}

function use({ usage }: AgentStatus, event: StatusEvent): Change {
  const total = objectOf(event.total);
  const isOwn = event.subagent_id === undefined;
  const cost = typeof total.cost === "number" ? total.cost : null;
  const isUnpriced = objectOf(event.usage).cost === null;
  return {
    usage: {
      input_tokens: numberOf(total.input_tokens),
      output_tokens: numberOf(total.output_tokens),
      cost,
      cost_is_partial: cost !== null && (usage?.cost_is_partial === true || isUnpriced),
      context_tokens: isOwn ? numberOf(event.context_tokens) : (usage?.context_tokens ?? 0),
      context_limit: isOwn ? limitOf(event.context_limit) : (usage?.context_limit ?? null),
    },
  };
}

function changeQueue(queue: readonly string[], { added, removed }: StatusEvent): readonly string[] {
  const { queue_id } = objectOf(added);
  const all =
    typeof queue_id === "string" ? [...queue.filter((id) => id !== queue_id), queue_id] : queue;
  const gone: readonly unknown[] = Array.isArray(removed) ? removed : [];
  return all.filter((id) => !gone.includes(id)).slice(-QUEUED);
}

/** An answer is shown as it comes; only its last line is kept. */
function grow({ partial, last_line }: AgentStatus, { message_id, text }: StatusEvent): Change {
  const id = textOf(message_id);
  const before = partial?.message_id === id ? partial.text : "";
  const written = before + textOf(text);
  const rest = written.slice(written.lastIndexOf("\n") + 1).slice(0, PARTIAL_CHARS);
  return {
    partial: { message_id: id, text: rest },
    last_line: findLastLine(written) || last_line,
  };
}

/** An empty line says less than the one before. */
function tell(text: string): Change {
  const last_line = toPlainLine(text);
  return last_line === "" ? {} : { last_line };
}

/** A command with an exit code other than 0 has failed, although its tool has not. */
function tellFailure({ tool, output, is_error }: StatusEvent): Change {
  const [name, text] = [textOf(tool), textOf(output)];
  const exit = findExit(name, text);
  const hasExitCode = exit !== undefined && exit.exit_code !== 0;
  if (is_error !== true && !hasExitCode) return undefined;
  const how = hasExitCode ? ` with exit code ${exit.exit_code}` : "";
  const why = findLastLine(hasExitCode ? exit.printed : text);
  return tell(`tool ${name} failed${how}${why === "" ? "" : `: ${why}`}`);
}

function describeCall(tool: unknown, input: unknown): string {
  return `tool ${textOf(tool)} ${firstText(input)}`;
}

/** The command, path or pattern of a call comes first in most of them. */
function firstText(input: unknown): string {
  const texts = Object.values(objectOf(input));
  return textOf(texts.find((value) => typeof value === "string" && value !== ""));
}

function withoutAsker({ subagent_id: _asker, ...need }: AgentNeed): SessionNeed {
  return need;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function limitOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** Every field of it is checked before it is used. */
function objectOf(value: unknown): StatusEvent {
  return typeof value === "object" && value !== null ? (value as StatusEvent) : {};
}
