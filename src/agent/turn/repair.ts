import type { AgentFold } from "#agent/state/agent-fold.ts";
import type { HistoryItem } from "#agent/state/history.ts";
import type { AgentEventBody, AgentEventOf } from "#contract/agent/events.ts";
import type { Emit } from "./stage.ts";

const CUT = "The worker ended in the middle of this call; whether it took effect is not known.";
const FORKED = "The conversation was forked before this call ended.";

/** Clears up behind a life that was cut: what it had begun is ended and marked, so that the history is whole. */
export function repairCut(fold: AgentFold, emit: Emit): void {
  const { turn_id } = fold;
  const under: Emit = (body) => emit(turn_id === undefined ? body : { ...body, turn_id });
  endAnswer(fold, under);
  for (const { call_id, tool } of fold.conversation.openCalls)
    under({ type: "tool.result", call_id, tool, output: CUT, is_error: true });
  for (const { approval_id, subagent_id } of fold.approvals.values())
    under({
      ...{ type: "approval.resolved", approval_id, decision: "reject", by: "interrupt" },
      ...of(subagent_id),
    });
  for (const { elicitation_id, subagent_id } of fold.elicitations.values())
    under({
      ...{ type: "elicitation.resolved", elicitation_id, action: "cancel", by: "interrupt" },
      ...of(subagent_id),
    });
  for (const { subagent_id, name, ended } of fold.subagents.values())
    if (ended === undefined)
      emit({ type: "subagent.ended", subagent_id, name, outcome: "failed", text: CUT });
  if (turn_id === undefined) return;
  const message = "the worker ended in the middle of the turn";
  under({ type: "turn.ended", reason: "interrupted", message });
}

function endAnswer({ conversation }: AgentFold, emit: Emit): void {
  const { answer } = conversation;
  if (answer === undefined) return;
  const { message_id, model, text } = answer;
  emit({ type: "message.end", message_id, model, text, stop_reason: "other", interrupted: true });
}

function of(subagentId: string | undefined) {
  return subagentId === undefined ? {} : { subagent_id: subagentId };
}

/** Writes a history down again, as the beginning of another session. */
export function copyHistory(items: readonly HistoryItem[], fold: AgentFold, emit: Emit): void {
  for (const item of items) for (const event of retell(item)) emit(event);
  for (const { call_id, tool } of fold.conversation.openCalls)
    emit({ type: "tool.result", call_id, tool, output: FORKED, is_error: true });
}

function retell(item: HistoryItem): AgentEventBody[] {
  if (item.kind === "user") {
    const { message_id, content, origin, framing } = item;
    return [{ type: "message.user", message_id, content: [...content], origin, framing }];
  }
  if (item.kind === "tool") {
    const { call_id, tool, output, is_error, images } = item;
    return [{ type: "tool.result", call_id, tool, output, is_error, images: [...images] }];
  }
  if (item.kind === "summary") {
    const { text: summary, kept_from } = item;
    const kept = kept_from === undefined ? {} : { kept_from };
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
    const metadata =
      part.provider_metadata === undefined ? {} : { provider_metadata: part.provider_metadata };
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
