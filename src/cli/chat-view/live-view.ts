import type { ReactNode } from "react";
import { textOf } from "#cli/chat/chat-answers.ts";
import type { ChatView } from "#cli/chat/chat-store.ts";
import { type ChatState, depthOf, type OpenAnswer, type OpenCall } from "#cli/chat/chat-types.ts";
import { keepTail, lastLine } from "#cli/chat/safe-text.ts";
import { activityOf } from "#contract/agent/standing.ts";
import { describeCall } from "./describe-call.ts";
import { column, h, Rows, Say } from "./draw.ts";
import { readMarkdown } from "./markdown.ts";

/** Of an answer's unfinished block: what a screen can hold anyway. */
const LIVE_CHARS = 8000;
const UNFOLDED_LINES = 8;
const QUEUE_SHOWN = 3;
const INDENT = 2;

/** What is under way. */
export function LiveView({ view }: { readonly view: ChatView }): ReactNode {
  const { chat, now } = view;
  return column(
    {},
    ...chat.answers.map((answer) => h(AnswerView, { key: answer.message_id, answer, chat })),
    ...openCalls(chat).map((call) => h(CallView, { key: call.call_id, call, chat, now })),
    ...(chat.isCompacting
      ? [h(Say, { key: "c", text: "… making the history shorter", dim: true })]
      : []),
    h(QueueView, { key: "q", chat }),
  );
}

/** A call of a turn that was cut will never end by itself. */
function openCalls(chat: ChatState): readonly OpenCall[] {
  if (activityOf(chat) !== "idle") return chat.calls;
  return chat.calls.filter(({ subagent_id }) => subagent_id !== undefined);
}

interface AnswerProps {
  readonly answer: OpenAnswer;
  readonly chat: ChatState;
}

function AnswerView({ answer, chat }: AnswerProps): ReactNode {
  const { text, settled, reasoning, subagent_id, agent } = answer;
  const rest = text.slice(settled);
  if (rest.trim() === "") {
    const thought = lastLine(reasoning);
    if (thought === "") return null;
    return h(Say, { text: `… thinking: ${thought}`, dim: true, isLine: true });
  }
  if (subagent_id === undefined)
    return column({ marginTop: 1 }, h(Rows, { rows: readMarkdown(keepTail(rest, LIVE_CHARS)) }));
  return column(
    { paddingLeft: depthOf(chat, subagent_id) * INDENT },
    h(Say, { text: `${agent}: ${lastLine(rest)}`, isLine: true }),
  );
}

interface CallProps {
  readonly call: OpenCall;
  readonly chat: ChatState;
  readonly now: number;
}

function CallView({ call, chat, now }: CallProps): ReactNode {
  const isAsked = chat.approvals.some(({ call_id }) => call_id === call.call_id);
  const took = isAsked ? undefined : Math.max(0, now - Date.parse(call.started_at));
  const lines = call.output
    .trimEnd()
    .split(/\r\n|[\r\n]/)
    .slice(-UNFOLDED_LINES);
  return column(
    { paddingLeft: depthOf(chat, call.subagent_id) * INDENT },
    h(Say, { text: describeCall(call, took, "◌"), isLine: true }),
    ...(chat.isUnfolded && call.output !== ""
      ? [column({ paddingLeft: INDENT * 2 }, h(Say, { text: lines.join("\n"), dim: true }))]
      : []),
  );
}

/** What waits for its moment. */
function QueueView({ chat: { queue } }: { readonly chat: ChatState }): ReactNode {
  const more = queue.length - QUEUE_SHOWN;
  return column(
    {},
    ...queue.slice(0, QUEUE_SHOWN).map(({ queue_id, kind, content }) => {
      const lead = kind === "steer" ? ">>" : ">";
      const text = `${lead} ${textOf(content)} (${kind === "steer" ? "at its next step" : "when it is done"})`;
      return h(Say, { key: queue_id, text, dim: true, isLine: true });
    }),
    ...(more > 0 ? [h(Say, { key: "more", text: `and ${more} more wait`, dim: true })] : []),
  );
}
