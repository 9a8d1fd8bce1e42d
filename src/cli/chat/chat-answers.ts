import type { AgentEventOf } from "#contract/agent/events.ts";
import type { MessagePart } from "#contract/agent/message.ts";
import { splitSettled } from "#contract/agent/settled-blocks.ts";
import {
  add,
  type ChatItem,
  type ChatState,
  depthOf,
  note,
  type OpenAnswer,
} from "./chat-types.ts";
import { keepTail } from "./safe-text.ts";

const REASONING_CHARS = 2000;

const cutShort: Readonly<Record<string, string>> = {
  length: "the answer was cut off: it has reached the model's limit",
  content_filter: "the answer was held back by the model's provider",
};

/** What people say. The task of a sub-agent was shown with its start. */
export function applyUser(state: ChatState, event: AgentEventOf<"message.user">): ChatState {
  if (event.subagent_id !== undefined) return state;
  return add({ ...state, hasBegun: true }, userItem(event.content, event.origin));
}

export function userItem(content: readonly MessagePart[], origin: string): ChatItem {
  return { kind: "user", text: textOf(content), origin, depth: 0 };
}

export function textOf(content: readonly MessagePart[]): string {
  return content.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n");
}

export function startAnswer(state: ChatState, event: AgentEventOf<"message.start">): ChatState {
  const { message_id, subagent_id, agent = "" } = event;
  // Whoever begins anew has given up what he had begun.
  const others = state.answers.filter((answer) => answer.subagent_id !== subagent_id);
  const answer = { message_id, subagent_id, agent, text: "", settled: 0, reasoning: "" };
  return { ...state, answers: [...others, answer] };
}

export function applyReasoning(
  state: ChatState,
  { message_id, text }: AgentEventOf<"reasoning.delta">,
): ChatState {
  return change(state, message_id, (answer) => ({
    ...answer,
    reasoning: keepTail(answer.reasoning + text, REASONING_CHARS),
  }));
}

export function growAnswer(
  state: ChatState,
  { message_id, text }: Pick<AgentEventOf<"message.delta">, "message_id" | "text">,
): ChatState {
  const answer = state.answers.find((open) => open.message_id === message_id);
  if (answer === undefined) return state;
  const grown = { ...answer, text: answer.text + text };
  // Several sub-agents may speak at once: each is written down when it has finished.
  const { blocks } =
    grown.subagent_id === undefined
      ? splitSettled(grown.text.slice(grown.settled))
      : { blocks: [] };
  const settled = blocks.reduce((sum, block) => sum + block.length, grown.settled);
  const next = change(state, message_id, () => ({ ...grown, settled }));
  return add(next, ...blockItems(blocks, { agent: grown.agent, isBegun: hasSpoken(answer) }));
}

export function endAnswer(state: ChatState, event: AgentEventOf<"message.end">): ChatState {
  const { message_id, subagent_id, agent = "", text, stop_reason } = event;
  const open = state.answers.find((answer) => answer.message_id === message_id);
  const shown = open?.text.slice(0, open.settled) ?? "";
  const isSame = text.startsWith(shown);
  const isBegun = isSame && open !== undefined && hasSpoken(open);
  const rest = isSame ? text.slice(shown.length) : text;
  const answers = state.answers.filter((answer) => answer !== open);
  // Calls of an answer that was cut off were never made.
  const calls =
    event.interrupted === true
      ? state.calls.filter((call) => call.message_id !== message_id)
      : state.calls;
  const depth = depthOf(state, subagent_id);
  const said =
    subagent_id === undefined
      ? answerItems(rest, { agent: open?.agent ?? agent, isBegun })
      : blockItems([rest], { agent, isBegun: false }, depth);
  const why = cutShort[stop_reason];
  const notes = why === undefined ? [] : [note(why, "warning", depth)];
  return add({ ...state, answers, calls }, ...said, ...notes);
}

/** Something of it is written above. */
function hasSpoken({ text, settled }: OpenAnswer): boolean {
  return text.slice(0, settled).trim() !== "";
}

interface Speaker {
  readonly agent: string;
  readonly isBegun: boolean;
}

/** A whole answer, or what is left of it, in the blocks that it would have come in. */
export function answerItems(text: string, speaker: Speaker): ChatItem[] {
  const { blocks, rest } = splitSettled(text);
  return blockItems([...blocks, rest], speaker);
}

function blockItems(blocks: readonly string[], { agent, isBegun }: Speaker, depth = 0): ChatItem[] {
  return blocks
    .map((block) => block.trimEnd())
    .filter((block) => block !== "")
    .map((text, at) => ({ kind: "answer", agent, text, isFirst: !isBegun && at === 0, depth }));
}

function change(
  state: ChatState,
  messageId: string,
  update: (answer: OpenAnswer) => OpenAnswer,
): ChatState {
  const answers = state.answers.map((answer) =>
    answer.message_id === messageId ? update(answer) : answer,
  );
  return { ...state, answers };
}
