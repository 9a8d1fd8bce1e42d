import type { Blobs, LocalBlobs } from "#agent/ports.ts";
import type { AgentState } from "#agent/state/agent-state.ts";
import type { HistoryItem } from "#agent/state/history.ts";
import type { AgentEventBody, AgentEventOf } from "#contract/agent/events.ts";
import type { MessagePart } from "#contract/agent/message.ts";
import { defined } from "#contract/values/defined.ts";
import type { Emit } from "./stage.ts";

const CUT = "The worker ended in the middle of this call; whether it took effect is not known.";
const FORKED = "The conversation was forked before this call ended.";

/** Clears up behind a life that was cut: what it had begun is ended and marked, so that the history is whole. */
export function repairCut(fold: AgentState, emit: Emit): void {
  const { turn_id } = fold;
  const under: Emit = (body) => emit(turn_id === undefined ? body : { ...body, turn_id });
  endAnswer(fold, under);
  for (const { call_id, tool } of fold.conversation.openCalls)
    under({ type: "tool.result", call_id, tool, output: CUT, is_error: true });
  for (const { approval_id, subagent_id } of fold.talk.approvals)
    under({
      ...{ type: "approval.resolved", approval_id, decision: "reject", by: "interrupt" },
      ...of(subagent_id),
    });
  for (const { elicitation_id, subagent_id } of fold.talk.elicitations)
    under({
      ...{ type: "elicitation.resolved", elicitation_id, action: "cancel", by: "interrupt" },
      ...of(subagent_id),
    });
  for (const [subagent_id, name] of fold.subagents)
    emit({ type: "subagent.ended", subagent_id, name, outcome: "failed", text: CUT });
  if (turn_id === undefined) return;
  const message = "the worker ended in the middle of the turn";
  under({ type: "turn.ended", reason: "interrupted", message });
}

function endAnswer({ conversation }: AgentState, emit: Emit): void {
  const { answer } = conversation;
  if (answer === undefined) return;
  const { key: message_id, model, text } = answer;
  emit({ type: "message.end", message_id, model, text, stop_reason: "other", interrupted: true });
}

function of(subagentId: string | undefined) {
  return defined({ subagent_id: subagentId });
}

/** The history of another session, and where its images lie. */
export interface Inherited {
  readonly items: readonly HistoryItem[];
  readonly blobs: Pick<LocalBlobs, "get">;
}

/** Writes a history down again, as the beginning of another session, which may outlive the first. */
export function copyHistory(
  { items, blobs: theirs }: Inherited,
  { fold, emit, blobs }: { readonly fold: AgentState; readonly emit: Emit; readonly blobs: Blobs },
): void {
  const keep = (part: MessagePart) => keepCopy(part, { theirs, blobs });
  for (const item of items) for (const event of retell(item, keep)) emit(event);
  for (const { call_id, tool } of fold.conversation.openCalls)
    emit({ type: "tool.result", call_id, tool, output: FORKED, is_error: true });
}

/** One that is gone stays a name, and whoever reads it says so. */
function keepCopy(
  part: MessagePart,
  { theirs, blobs }: { readonly theirs: Pick<LocalBlobs, "get">; readonly blobs: Blobs },
): MessagePart {
  if (part.type !== "image" || part.blob === undefined) return part;
  const data_b64 = theirs.get(part.blob);
  return data_b64 === undefined ? part : { ...part, blob: blobs.put(data_b64) };
}

function retell(item: HistoryItem, keep: (part: MessagePart) => MessagePart): AgentEventBody[] {
  if (item.kind === "user") {
    const { message_id, origin, framing } = item;
    return [{ type: "message.user", message_id, content: item.content.map(keep), origin, framing }];
  }
  if (item.kind === "tool") {
    const { call_id, tool, output, is_error } = item;
    const images = item.images.map(keep);
    return [{ type: "tool.result", call_id, tool, output, is_error, images }];
  }
  if (item.kind === "summary") {
    const { text: summary, kept_from } = item;
    const kept = defined({ kept_from });
    return [{ type: "compaction.ended", outcome: "applied", summary, ...kept }];
  }
  if (item.kind === "error") return [{ type: "error", code: item.code, message: item.message }];
  return retellAnswer(item);
}

function retellAnswer(item: Extract<HistoryItem, { kind: "assistant" }>): AgentEventBody[] {
  const { message_id, agent, model, parts, stop_reason, interrupted } = item;
  const events: AgentEventBody[] = [{ type: "message.start", message_id, model, agent }];
  let text = "";
  for (const part of parts) {
    const metadata = defined({ provider_metadata: part.provider_metadata });
    if (part.type === "tool_call") {
      const { call_id, tool } = part;
      // What came as JSON is JSON.
      const input = part.input as AgentEventOf<"tool.call.end">["input"];
      events.push({ type: "tool.call.end", message_id, call_id, tool, input, ...metadata });
    } else if (part.type === "reasoning") {
      const reasoning_id = `${message_id}-${events.length}`;
      events.push({
        type: "reasoning.end",
        message_id,
        reasoning_id,
        text: part.text,
        ...metadata,
      });
    } else text += part.text;
  }
  events.push({
    type: "message.end",
    message_id,
    model,
    text,
    stop_reason,
    ...(interrupted ? { interrupted } : {}),
  });
  return events;
}
