import type { ReactNode } from "react";
import { textOf } from "#cli/chat/chat-rows.ts";
import { listOpen } from "#cli/chat/chat-state.ts";
import type { ChatView } from "#cli/chat/chat-store.ts";
import type { ChatState } from "#cli/chat/chat-types.ts";
import { lastLine } from "#cli/chat/safe-text.ts";
import { activityOf } from "#contract/agent/agent-status.ts";
import type { AnswerItem, CallItem } from "#contract/conversation/items.ts";
import { keepTail } from "#contract/conversation/text.ts";
import { describeCall } from "./describe-call.ts";
import { column, h, Rows, Say } from "./draw.ts";
import { readMarkdown } from "./markdown.ts";

/** Of an answer's unfinished block: what a screen can hold anyway. */
const LIVE_CHARS = 8000;
const UNFOLDED_LINES = 8;
const QUEUE_SHOWN = 3;
const INDENT = 2;

/** Everything that is open. */
export function LiveView({ view }: { readonly view: ChatView }): ReactNode {
  const { chat, now } = view;
  const answers = listOpen(chat, "answer");
  return column(
    {},
    ...answers.map(({ item, depth }) => h(AnswerView, { key: item.key, item, depth, chat })),
    ...openCalls(chat).map(({ item, depth }) =>
      h(CallView, { key: item.key, item, depth, now, isUnfolded: chat.isUnfolded }),
    ),
    ...(chat.talk.isCompacting
      ? [h(Say, { key: "c", text: "… making the history shorter", dim: true })]
      : []),
    h(QueueView, { key: "q", chat }),
  );
}

/** A call of a turn that was cut never ends by itself. */
function openCalls(chat: ChatState) {
  const calls = listOpen(chat, "call");
  return activityOf(chat.talk.status) === "idle" ? calls.filter(({ depth }) => depth > 0) : calls;
}

interface AnswerProps {
  readonly item: AnswerItem;
  readonly depth: number;
  readonly chat: ChatState;
}

function AnswerView({ item, depth, chat: { settled } }: AnswerProps): ReactNode {
  const { text, reasoning, agent, key } = item;
  const rest = settled.key === key ? text.slice(settled.text.length) : text;
  if (rest.trim() === "") {
    const thought = lastLine(reasoning);
    if (thought === "") return null;
    return h(Say, { text: `… thinking: ${thought}`, dim: true, isLine: true });
  }
  if (depth === 0)
    return column({ marginTop: 1 }, h(Rows, { rows: readMarkdown(keepTail(rest, LIVE_CHARS)) }));
  return column(
    { paddingLeft: depth * INDENT },
    h(Say, { text: `${agent}: ${lastLine(rest)}`, isLine: true }),
  );
}

interface CallProps {
  readonly item: CallItem;
  readonly depth: number;
  readonly now: number;
  readonly isUnfolded: boolean;
}

function CallView({ item, depth, now, isUnfolded }: CallProps): ReactNode {
  const lines = item.output
    .trimEnd()
    .split(/\r\n|[\r\n]/)
    .slice(-UNFOLDED_LINES);
  return column(
    { paddingLeft: depth * INDENT },
    h(Say, { text: describeCall(item, now), isLine: true }),
    ...(isUnfolded && item.output !== ""
      ? [column({ paddingLeft: INDENT * 2 }, h(Say, { text: lines.join("\n"), dim: true }))]
      : []),
  );
}

/** What waits for its moment. */
function QueueView({
  chat: {
    talk: { queue },
  },
}: {
  readonly chat: ChatState;
}): ReactNode {
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
