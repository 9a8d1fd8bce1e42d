import { Text } from "ink";
import type { ReactNode } from "react";
import { findQuestion, nextField, type Question } from "#cli/chat/asking.ts";
import { type ChatView, commandsOf } from "#cli/chat/chat-store.ts";
import { findStem, matchCommands } from "#cli/chat/completion.ts";
import { isAnswering, type Typing } from "#cli/chat/keys.ts";
import { type Editor, splitAtCursor } from "#cli/chat/line-editor.ts";
import { type Command, describeCommand } from "#cli/chat/slash.ts";
import { askedText } from "#cli/control/asked-text.ts";
import { activityOf } from "#contract/agent/agent-status.ts";
import { keepTail } from "#contract/conversation/text.ts";
import { beside, column, h, Say } from "./draw.ts";

const SHOWN_CHARS = 2000;
const SHOWN_COMMANDS = 8;

/** Where somebody types: a message, or the answer to a question. */
export function InputView({ view }: { readonly view: ChatView }): ReactNode {
  const { chat, typing, now, isViewer } = view;
  const question = findQuestion(chat);
  const situation = { question, isRunning: false, commands: [], isViewer, now };
  const isAsked = isAnswering(typing, situation);
  const prompt = question === undefined ? null : h(QuestionView, { question, typing, isAsked });
  if (isViewer) return column({ marginTop: 1 }, prompt);
  const editor = isAsked && typing.draft !== undefined ? typing.draft.editor : typing.editor;
  const lead = isAsked ? "= " : "> ";
  const isChoice = isAsked && question?.kind === "approval" && typing.draft?.isRefused !== true;
  const line = isChoice ? null : beside({ text: lead, bold: true }, h(EditorView, { editor }));
  const menu = isAsked ? null : h(MenuView, { typing, commands: commandsOf(chat) });
  return column({ marginTop: 1 }, prompt, line, menu);
}

/** The commands that begin as what is typed, with what they are for; Tab puts them in. */
function MenuView({ typing, commands }: MenuProps): ReactNode {
  const lines = describeMenu(typing, commands);
  if (lines.length === 0) return null;
  return column({}, ...lines.map((text) => h(Say, { key: text, text, dim: true, isLine: true })));
}

interface MenuProps {
  readonly typing: Typing;
  readonly commands: readonly Command[];
}

export function describeMenu(
  { editor, menu }: Pick<Typing, "editor" | "menu">,
  commands: readonly Command[],
): readonly string[] {
  const stem = menu?.stem ?? findStem(editor.text);
  if (stem === undefined) return [];
  const matches = matchCommands(commands, stem);
  const chosen = menu?.at ?? 0;
  const first = Math.max(0, Math.min(chosen - SHOWN_COMMANDS + 1, matches.length - SHOWN_COMMANDS));
  const shown = matches.slice(first, first + SHOWN_COMMANDS);
  const rest = matches.length - shown.length;
  return [
    ...shown.map((command, at) => {
      const isChosen = menu?.at === first + at;
      return `${isChosen ? "*" : " "} ${describeCommand(command)}`;
    }),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ];
}

interface QuestionProps {
  readonly question: Question;
  readonly typing: Typing;
  readonly isAsked: boolean;
}

function QuestionView({ question, typing, isAsked }: QuestionProps): ReactNode {
  const hint = isAsked
    ? askedText(describeAnswers(question, typing))
    : typing.editor.text === ""
      ? "it asks something; see above"
      : "it asks something; send your line or clear it (Ctrl-U) to answer";
  const problem = typing.draft?.problem;
  return column(
    {},
    h(Say, { text: hint, colour: "yellow", bold: true }),
    ...(problem === undefined ? [] : [h(Say, { key: "p", text: problem, colour: "red" })]),
  );
}

function describeAnswers(question: Question, { draft }: Typing): string {
  if (question.kind === "approval") {
    if (draft?.isRefused === true) return "why not? Enter refuses, Esc goes back";
    const { tool, kind } = question.approval;
    if (kind !== "tool") return "go on? [y]es, [n]o";
    return `allow ${tool ?? "it"}? [y] once, [t] this tool, [s] all of this session, [n] no`;
  }
  const field = draft === undefined ? undefined : nextField(question, draft);
  if (field === undefined) return "Enter agrees, Esc declines";
  const choices = field.choices.map((choice, at) => `\n  ${at + 1}. ${choice}`).join("");
  const type =
    field.type === "boolean" ? " [y/n]" : field.type === "string" ? "" : ` (${field.type})`;
  const empty = field.isRequired ? "" : ", may be empty";
  return `${field.label}${type}${choices}\nEnter answers${empty}, Esc declines`;
}

function EditorView({ editor }: { readonly editor: Editor }): ReactNode {
  const [before, at, behind] = splitAtCursor(editor);
  const isBreak = at === "" || at === "\n";
  return h(
    Text,
    {},
    h(Say, { text: keepTail(before, SHOWN_CHARS) }),
    h(Say, { text: isBreak ? " " : at, inverse: true }),
    h(Say, { text: (at === "\n" ? "\n" : "") + behind.slice(0, SHOWN_CHARS) }),
  );
}

/** Who works with what, and what it has cost. The most wanted comes first: a narrow screen cuts the rest off. */
export function StatusView({ view }: { readonly view: ChatView }): ReactNode {
  return h(Say, { text: describeStatus(view), dim: true, isLine: true });
}

export function describeStatus({ chat, asking, isViewer }: ChatView): string {
  const { agent, model, usage, context_tokens, context_limit, queue } = chat.talk;
  const activity = chat.talk.isCompacting ? "compacting" : activityOf(chat.talk.status);
  const doing = asking > 0 && activity === "idle" ? "sending" : activities[activity];
  const context =
    context_limit === null || context_limit === 0
      ? []
      : [`${Math.round((100 * context_tokens) / context_limit)}% of context`];
  return [
    isViewer ? `${doing} (watching)` : doing,
    ...(queue.length === 0 ? [] : [`${queue.length} queued`]),
    agent,
    model,
    ...context,
    `${shorten(usage.input_tokens)} in, ${shorten(usage.output_tokens)} out`,
    ...(usage.cost === null || usage.cost === 0 ? [] : [describeCost(usage.cost)]),
  ].join(" | ");
}

const activities = {
  idle: "ready",
  running: "working, Esc interrupts",
  waiting: "waiting for an answer",
  compacting: "making the history shorter",
} as const;

function describeCost(dollars: number): string {
  return `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`;
}

function shorten(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  if (tokens < 999_950) return `${(tokens / 1000).toFixed(1)}k`;
  return `${(tokens / 1_000_000).toFixed(1)}M`;
}
