import type { WorkerInput } from "#contract/operations/worker-requests.ts";
import {
  ANSWER_AFTER_MS,
  type Draft,
  fillField,
  openDraft,
  type Question,
  readDecision,
} from "./asking.ts";
import { complete, type Menu } from "./completion.ts";
import { type EditKey, type Editor, edit, emptyEditor, insert, moveLine } from "./line-editor.ts";
import type { Command } from "./slash.ts";

/** What somebody at the keyboard does: a key with a meaning, or text. */
export type Press =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "edit"; readonly key: EditKey }
  | { readonly kind: "enter" | "newline" | "tab" | "escape" | "up" | "down" }
  | { readonly kind: "interrupt" | "leave" | "unfold" };

/** What is to be done because of it. */
export type Intent =
  | { readonly kind: "say" | "followup"; readonly text: string }
  | { readonly kind: "interrupt" | "leave" | "unfold" }
  | { readonly kind: "hint"; readonly text: string }
  | { readonly kind: "resume"; readonly answer: WorkerInput<"resume"> }
  | { readonly kind: "answer"; readonly answer: WorkerInput<"elicitation"> };

/** What is being typed. */
export interface Typing {
  readonly editor: Editor;
  readonly draft: Draft | undefined;
  readonly sent: readonly string[];
  /** Which of those is shown again, counted from the end; 0 = none. */
  readonly recalled: number;
  /** By the same count: what was left unsent, the draft included, until something is sent. */
  readonly unsent: Readonly<Record<number, string>>;
  /** Between two Tabs. */
  readonly menu: Menu | undefined;
}

export interface Situation {
  readonly question: Question | undefined;
  readonly isRunning: boolean;
  /** The slash commands. */
  readonly commands: readonly Command[];
  /** Somebody who only watches. */
  readonly isViewer: boolean;
  readonly now: number;
}

export interface Pressed {
  readonly typing: Typing;
  readonly intent?: Intent;
}

const SENT_KEPT = 100;

export const emptyTyping: Typing = {
  editor: emptyEditor,
  draft: undefined,
  sent: [],
  recalled: 0,
  unsent: {},
  menu: undefined,
};

/** A question that was asked is shown; one that is answered is not. */
export function showQuestion(typing: Typing, question: Question | undefined, now: number): Typing {
  if (typing.draft?.id === question?.id) return typing;
  return { ...typing, draft: question === undefined ? undefined : openDraft(question.id, now) };
}

/** Keys answer the question, and do not write a message: nothing was typed before it, and it was there to be seen. */
export function isAnswering({ editor, draft }: Typing, { now, isViewer }: Situation): boolean {
  return (
    !isViewer && draft !== undefined && editor.text === "" && now - draft.since >= ANSWER_AFTER_MS
  );
}

export function press(typing: Typing, key: Press, situation: Situation): Pressed {
  if (key.kind === "leave" || key.kind === "unfold" || key.kind === "interrupt")
    return pressControl(typing, key.kind, situation);
  if (situation.isViewer) return { typing };
  const { question } = situation;
  const { draft } = typing;
  if (question !== undefined && draft !== undefined && isAnswering(typing, situation))
    return question.kind === "approval"
      ? pressApproval(typing, { key, question, draft })
      : pressForm(typing, { key, question, draft });
  // Another key than Tab ends the choice.
  const before = key.kind === "tab" ? typing : { ...typing, menu: undefined };
  return pressMessage(before, key, situation);
}

function pressControl(
  typing: Typing,
  kind: "leave" | "unfold" | "interrupt",
  { isRunning, isViewer }: Situation,
): Pressed {
  const isTyped = typing.editor.text !== "";
  // As in a shell: with something before it, it removes the character under the cursor.
  if (kind === "leave" && isTyped)
    return { typing: withEditor(typing, edit(typing.editor, "delete")) };
  if (kind !== "interrupt") return { typing, intent: { kind } };
  if (isTyped) return { typing: { ...typing, ...nothingTyped } };
  if (isRunning && !isViewer) return { typing, intent: { kind } };
  return { typing, intent: { kind: "hint", text: "Ctrl-D leaves; the session goes on" } };
}

interface Answering<K extends Question["kind"]> {
  readonly key: Press;
  readonly question: Extract<Question, { kind: K }>;
  readonly draft: Draft;
}

function pressApproval(typing: Typing, { key, question, draft }: Answering<"approval">): Pressed {
  const { approval } = question;
  if (draft.isRefused) {
    if (key.kind === "escape") return { typing: { ...typing, draft: unrefuse(draft) } };
    if (key.kind !== "enter") return { typing: { ...typing, draft: typeInto(draft, key) } };
    const reason = draft.editor.text.trim();
    const answer = {
      ...{ approval_id: question.id, decision: "reject" as const },
      ...(reason === "" ? {} : { reason }),
    };
    return { typing, intent: { kind: "resume", answer } };
  }
  if (key.kind === "escape") return { typing, intent: { kind: "interrupt" } };
  const decision = key.kind === "text" ? readDecision(approval, key.text) : undefined;
  if (decision === "reject") return { typing: { ...typing, draft: { ...draft, isRefused: true } } };
  if (decision !== undefined)
    return { typing, intent: { kind: "resume", answer: { approval_id: question.id, decision } } };
  // Something else is being said.
  return key.kind === "text"
    ? { typing: withEditor(typing, insert(typing.editor, key.text)) }
    : { typing };
}

function unrefuse(draft: Draft): Draft {
  return { ...draft, isRefused: false, editor: emptyEditor };
}

function pressForm(typing: Typing, { key, question, draft }: Answering<"form">): Pressed {
  if (key.kind === "escape") {
    const answer = { elicitation_id: question.id, action: "decline" as const };
    return { typing, intent: { kind: "answer", answer } };
  }
  if (key.kind !== "enter") return { typing: { ...typing, draft: typeInto(draft, key) } };
  const filled = fillField(question, draft);
  if (filled.kind === "more") return { typing: { ...typing, draft: filled.draft } };
  return { typing, intent: { kind: "answer", answer: filled.answer } };
}

function typeInto(draft: Draft, key: Press): Draft {
  return { ...draft, editor: applyEdit(draft.editor, key), problem: undefined };
}

function applyEdit(editor: Editor, key: Press): Editor {
  if (key.kind === "text") return insert(editor, key.text);
  if (key.kind === "newline") return insert(editor, "\n");
  return key.kind === "edit" ? edit(editor, key.key) : editor;
}

function pressMessage(typing: Typing, key: Press, { isRunning, commands }: Situation): Pressed {
  switch (key.kind) {
    case "enter":
      return submit(typing, "say");
    case "tab":
      return pressTab(typing, commands);
    case "escape":
      return isRunning ? { typing, intent: { kind: "interrupt" } } : { typing };
    case "up":
      return { typing: pressArrow(typing, -1) };
    case "down":
      return { typing: pressArrow(typing, 1) };
    default:
      return { typing: withEditor(typing, applyEdit(typing.editor, key)) };
  }
}

/** A line that begins with a slash is completed and never sent: it would be a turn that is paid for. */
function pressTab(typing: Typing, commands: readonly Command[]): Pressed {
  const completed = complete(typing.editor.text, commands, typing.menu);
  if (completed === undefined) return submit(typing, "followup");
  if (completed.kind === "refused")
    return { typing, intent: { kind: "hint", text: completed.why } };
  const { text, menu } = completed;
  return { typing: { ...typing, editor: { text, cursor: text.length }, menu } };
}

function submit(typing: Typing, kind: "say" | "followup"): Pressed {
  const { text } = typing.editor;
  if (text.trim() === "") return { typing };
  const sent = [...typing.sent.filter((line) => line !== text), text].slice(-SENT_KEPT);
  // A draft that was left for an earlier line comes back behind it.
  const draft = typing.recalled === 0 ? "" : (typing.unsent[0] ?? "");
  const editor = { text: draft, cursor: draft.length };
  return { typing: { ...typing, ...nothingTyped, editor, sent }, intent: { kind, text } };
}

const nothingTyped = { editor: emptyEditor, recalled: 0, unsent: {}, menu: undefined } as const;

/** What was not sent is given back, unless something else is being typed. */
export function giveBack(typing: Typing, text: string): Typing {
  if (typing.editor.text !== "") return typing;
  return withEditor(typing, { text, cursor: text.length });
}

/** Within the lines of what is typed, and from its first or last line to what was sent before and behind it. */
function pressArrow(typing: Typing, by: -1 | 1): Typing {
  const moved = moveLine(typing.editor, by);
  return moved === undefined ? recall(typing, typing.recalled - by) : withEditor(typing, moved);
}

function recall(typing: Typing, recalled: number): Typing {
  const { sent, editor } = typing;
  if (recalled < 0 || recalled > sent.length) return typing;
  const unsent = { ...typing.unsent, [typing.recalled]: editor.text };
  const text = unsent[recalled] ?? sent.at(-recalled) ?? "";
  return { ...typing, recalled, unsent, editor: { text, cursor: text.length } };
}

function withEditor(typing: Typing, editor: Editor): Typing {
  return { ...typing, editor };
}
