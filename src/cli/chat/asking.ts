import { type FieldValue, type FormField, listFields, parseField } from "#cli/control/form.ts";
import type { ApprovalDecision } from "#contract/agent/events.ts";
import type { PendingApproval, PendingElicitation } from "#contract/agent/views.ts";
import type { WorkerInput } from "#contract/operations/worker-requests.ts";
import type { ChatState } from "./chat-types.ts";
import { type Editor, emptyEditor } from "./line-editor.ts";

/** The question that is to be answered now, one at a time. */
export type Question =
  | { readonly kind: "approval"; readonly id: string; readonly approval: PendingApproval }
  | { readonly kind: "form"; readonly id: string; readonly elicitation: PendingElicitation };

/** How far the answer is. */
export interface Draft {
  readonly id: string;
  /** Since when it is shown; what is typed just then was not meant for it. */
  readonly since: number;
  readonly editor: Editor;
  /** Of an approval: it was refused, and now it is asked why. */
  readonly isRefused: boolean;
  /** Of a form: the fields that were filled in; the next one is asked for. */
  readonly filled: readonly (readonly [name: string, value: FieldValue | undefined])[];
  readonly problem: string | undefined;
}

/** Fingers that were typing something else have come to rest. */
export const ANSWER_AFTER_MS = 400;

export function findQuestion({ talk }: ChatState): Question | undefined {
  if (talk.status.is_cut) return undefined;
  const [approval] = talk.approvals;
  if (approval !== undefined) return { kind: "approval", id: approval.approval_id, approval };
  const [elicitation] = talk.elicitations;
  if (elicitation === undefined) return undefined;
  return { kind: "form", id: elicitation.elicitation_id, elicitation };
}

export function openDraft(id: string, since: number): Draft {
  return {
    ...{ id, since, editor: emptyEditor },
    isRefused: false,
    filled: [],
    problem: undefined,
  };
}

const decisions: Readonly<Record<string, Exclude<ApprovalDecision, "reject">>> = {
  y: "approve",
  t: "approve_tool",
  s: "approve_session",
};

/** What a single key says to an approval. */
export function readDecision({ kind }: PendingApproval, key: string): ApprovalDecision | undefined {
  const word = key.toLowerCase();
  if (word === "n") return "reject";
  // More turns are allowed or not; there is no tool to be allowed for good.
  if (kind !== "tool" && word !== "y") return undefined;
  return Object.hasOwn(decisions, word) ? decisions[word] : undefined;
}

export function nextField({ elicitation }: Extract<Question, { kind: "form" }>, draft: Draft) {
  return listFields(elicitation.schema)[draft.filled.length];
}

export type Filled =
  | { readonly kind: "more"; readonly draft: Draft }
  | { readonly kind: "done"; readonly answer: WorkerInput<"elicitation"> };

/** The next field of a form takes a line. A form without fields is agreed to by an empty one. */
export function fillField(question: Extract<Question, { kind: "form" }>, draft: Draft): Filled {
  const field = nextField(question, draft);
  if (field === undefined) return finish(question, draft);
  const { text } = draft.editor;
  const isLeftOut = text.trim() === "";
  const value = parseField(field, text);
  if (isLeftOut ? field.isRequired : value === undefined)
    return { kind: "more", draft: { ...draft, problem: describeProblem(field) } };
  const filled = [...draft.filled, [field.name, value] as const];
  const next = { ...draft, filled, editor: emptyEditor, problem: undefined };
  return nextField(question, next) === undefined
    ? finish(question, next)
    : { kind: "more", draft: next };
}

function finish({ id }: Question, { filled }: Draft): Filled {
  const content: Record<string, FieldValue> = {};
  for (const [name, value] of filled) if (value !== undefined) content[name] = value;
  return { kind: "done", answer: { elicitation_id: id, action: "accept", content } };
}

function describeProblem({ choices, type, isRequired }: FormField): string {
  if (choices.length > 0) return `type one of them, or its number (1 to ${choices.length})`;
  if (type === "boolean") return "type y or n";
  if (type === "integer") return "type a whole number";
  if (type === "number") return "type a number";
  return isRequired ? "it is needed; Esc declines" : "type something";
}
