import { askedText, warnOfHidden } from "#cli/control/asked-text.ts";
import type { MessagePart } from "#contract/agent/message.ts";
import { splitSettled } from "#contract/agent/settled-blocks.ts";
import type { AnswerItem, ApprovalItem, Item, QuestionItem } from "#contract/conversation/items.ts";
import { type ChatItem, note } from "./chat-types.ts";

const decisions = {
  approve: "allowed once",
  approve_tool: "allowed, and this tool from now on",
  approve_session: "allowed, and everything from now on",
  reject: "refused",
} as const;
const actions = { accept: "answered", decline: "declined", cancel: "dismissed" } as const;

export interface Change {
  readonly before: Item | undefined;
  readonly item: Item;
  readonly depth: number;
  readonly isUnfolded: boolean;
}

/** What is written above when an item has become another. */
export function rowsOf({ before, item, depth, isUnfolded }: Change): readonly ChatItem[] {
  switch (item.kind) {
    case "answer":
      // Several sub-agents may speak at once: each is written when its answer has ended.
      return item.isOpen ? [] : endAnswer(item, { shown: "", depth });
    case "call":
      if (item.result === undefined || isEnded(before)) return [];
      return [{ kind: "call", call: item, isUnfolded, depth }];
    case "approval":
    case "question":
      return item.answer === undefined ? [askedRow(item, depth)] : [answeredRow(item, depth)];
    case "subagent":
      return [];
    default:
      return before === undefined ? [plainRow(item, depth)] : [];
  }
}

function isEnded(item: Item | undefined): boolean {
  return item?.kind === "call" && item.result !== undefined;
}

type Plain = Extract<Item, { kind: "user" | "summary" | "error" | "note" }>;

function plainRow(item: Plain, depth: number): ChatItem {
  if (item.kind === "user")
    return { kind: "user", text: textOf(item.content), origin: item.origin, depth };
  if (item.kind === "note")
    return note(item.text, item.tone === "warn" ? "warning" : "plain", depth);
  return { kind: item.kind === "error" ? "failure" : "summary", text: item.text, depth };
}

export function textOf(content: readonly MessagePart[]): string {
  return content.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n");
}

interface Shown {
  /** The part of the answer that is written above. */
  readonly shown: string;
  readonly depth: number;
}

/** The rest of an answer, in the blocks that it would have come in. */
export function endAnswer(
  { text, agent, cut }: AnswerItem,
  { shown, depth }: Shown,
): readonly ChatItem[] {
  const isSame = text.startsWith(shown);
  const rest = isSame ? text.slice(shown.length) : text;
  const settled = splitSettled(rest);
  const blocks = depth === 0 ? [...settled.blocks, settled.rest] : [rest];
  const rows = blockRows(blocks, { agent, depth, isBegun: isSame && shown.trim() !== "" });
  return cut === undefined ? rows : [...rows, note(cut, "warning", depth)];
}

interface Speaker {
  readonly agent: string;
  readonly depth: number;
  readonly isBegun: boolean;
}

export function blockRows(
  blocks: readonly string[],
  { agent, depth, isBegun }: Speaker,
): readonly ChatItem[] {
  return blocks
    .map((block) => block.trimEnd())
    .filter((block) => block !== "")
    .map((text, at) => ({ kind: "answer", agent, text, isFirst: !isBegun && at === 0, depth }));
}

/** Everything that is asked for, whole: nobody allows what they have not seen. */
function askedRow({ asked }: ApprovalItem | QuestionItem, depth: number): ChatItem {
  if ("schema" in asked) {
    const detail = warnOfHidden([asked.message, asked.schema]).join("\n");
    return { kind: "asked", text: askedText(asked.message), detail, depth };
  }
  const { tool, input, message } = asked;
  const call = tool === undefined ? [] : [`${tool} ${JSON.stringify(input, null, 2) ?? ""}`];
  const detail = [...call.map(askedText), ...warnOfHidden([tool, input, message])].join("\n");
  return { kind: "asked", text: askedText(message), detail, depth };
}

function answeredRow(item: ApprovalItem | QuestionItem, depth: number): ChatItem {
  if (item.kind === "question")
    return note(actions[item.answer?.action ?? "cancel"], "plain", depth);
  const { decision = "reject", reason = "" } = item.answer ?? {};
  const why = reason === "" ? "" : `: ${reason}`;
  const text = `${askedText(item.asked.tool ?? "it")} is ${decisions[decision]}${why}`;
  return note(text, decision === "reject" ? "warning" : "good", depth);
}
