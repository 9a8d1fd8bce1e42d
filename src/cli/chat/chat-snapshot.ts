import type { TranscriptMessage } from "#contract/agent/message.ts";
import { standingOf } from "#contract/agent/standing.ts";
import type { AgentSnapshot } from "#contract/agent/views.ts";
import { answerItems, growAnswer, userItem } from "./chat-answers.ts";
import { doneCall } from "./chat-calls.ts";
import { approvalItem, questionItem } from "./chat-questions.ts";
import { emptyChat } from "./chat-state.ts";
import { add, type ChatItem, type ChatState, note, type OpenCall } from "./chat-types.ts";

/** How many messages of the past somebody sees who comes back. */
const MESSAGES_SHOWN = 100;

/** The view of a session as it is; the events from `events_tail` on go on from here. */
export function openChat(snapshot: AgentSnapshot, now: string): ChatState {
  const { transcript, partial } = snapshot;
  const calls = findCalls(transcript);
  const shown = transcript.slice(-MESSAGES_SHOWN);
  const omitted = snapshot.omitted_messages + transcript.length - shown.length;
  const items = shown.flatMap((message) => itemsOf(message, calls));
  const base: ChatState = {
    ...emptyChat,
    ...standingOf(snapshot),
    hasBegun: transcript.length > 0,
    calls: findOpen(transcript, calls),
    lastCall: items.findLast((item) => item.kind === "call")?.call,
  };
  const past = add(base, ...describeBeginning(snapshot, omitted), ...items);
  return add(openPartial(past, partial, now), ...describeQuestions(snapshot));
}

function describeBeginning(
  { transcript, welcome_message }: AgentSnapshot,
  omitted: number,
): ChatItem[] {
  if (omitted > 0) return [note(`${omitted} earlier messages are not shown`)];
  return transcript.length > 0 || welcome_message === undefined ? [] : [note(welcome_message)];
}

function describeQuestions({ approvals, elicitations }: AgentSnapshot): ChatItem[] {
  const depth = (subagentId: string | undefined) => (subagentId === undefined ? 0 : 1);
  return [
    ...approvals.map((approval) => approvalItem(approval, depth(approval.subagent_id))),
    ...elicitations.map((question) => questionItem(question, depth(question.subagent_id))),
  ];
}

/** What is being said right now: its finished blocks above, the rest as it grows. */
function openPartial(state: ChatState, partial: AgentSnapshot["partial"], at: string): ChatState {
  if (partial === null) return state;
  const { message_id, agent, text, reasoning, tool_calls = [] } = partial;
  const answer = { message_id, agent, subagent_id: undefined, text: "", settled: 0, reasoning };
  const open = { message_id, subagent_id: undefined, started_at: at, output: "" };
  const calls = [...state.calls, ...tool_calls.map((call) => ({ ...call, ...open }))];
  return growAnswer({ ...state, answers: [answer], calls }, { message_id, text });
}

type Calls = ReadonlyMap<string, OpenCall>;

function findCalls(transcript: readonly TranscriptMessage[]): Calls {
  const calls = transcript.flatMap((message): OpenCall[] => {
    if (message.role !== "assistant") return [];
    const { message_id, at } = message;
    const open = { message_id, subagent_id: undefined, started_at: at, output: "" };
    return message.tool_calls.map(({ call_id, tool, input }) => ({
      ...{ call_id, tool, input },
      ...open,
    }));
  });
  return new Map(calls.map((call) => [call.call_id, call]));
}

/** Calls without a result. */
function findOpen(transcript: readonly TranscriptMessage[], calls: Calls): OpenCall[] {
  const done = new Set(transcript.flatMap((said) => (said.role === "tool" ? [said.call_id] : [])));
  return [...calls.values()].filter(({ call_id }) => !done.has(call_id));
}

function itemsOf(message: TranscriptMessage, calls: Calls): ChatItem[] {
  switch (message.role) {
    case "user":
      return [userItem(message.content, message.origin)];
    case "assistant":
      return answerItems(message.text, { agent: message.agent, isBegun: false });
    case "tool": {
      const { call_id, tool } = message;
      const open = calls.get(call_id);
      const call = doneCall(open ?? { call_id, tool, input: undefined }, message, open?.started_at);
      return [{ kind: "call", call, isUnfolded: false, depth: 0 }];
    }
    case "summary":
      return [{ kind: "summary", text: message.text, depth: 0 }];
    case "error":
      return [{ kind: "failure", text: message.message, depth: 0 }];
  }
}
