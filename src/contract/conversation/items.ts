import type { ApprovalDecision } from "#contract/agent/events.ts";
import type { Framing, MessagePart } from "#contract/agent/message.ts";
import type { Standing } from "#contract/agent/standing.ts";
import type { AgentSnapshot, PermissionsView } from "#contract/agent/views.ts";

interface Placed {
  /** Unique in its thread, and the same however the item became known. */
  readonly key: string;
  readonly at: string;
  /** Its place among the messages of the transcript; undefined for what is no message, or not yet one. */
  readonly position: number | undefined;
}

export interface UserItem extends Placed {
  readonly kind: "user";
  readonly content: readonly MessagePart[];
  readonly origin: "message" | "steer" | "followup" | "system";
  readonly framing: Framing;
}

export interface AnswerItem extends Placed {
  readonly kind: "answer";
  readonly agent: string;
  readonly text: string;
  readonly reasoning: string;
  /** It grows. */
  readonly isOpen: boolean;
  readonly isInterrupted: boolean;
  /** Why it is shorter than it should be, in words. */
  readonly cut: string | undefined;
}

/**
 *   writing ── message ends ──→ running ──→ done | failed
 *                                 │  ↑
 *                              waiting ──→ rejected
 * `stopped`: its turn ended before it did.
 */
export type CallStatus =
  | "writing"
  | "running"
  | "waiting"
  | "done"
  | "failed"
  | "rejected"
  | "stopped";

export interface CallItem extends Placed {
  readonly kind: "call";
  readonly message_id: string | undefined;
  readonly tool: string;
  /** Undefined while the model writes it. */
  readonly input: unknown;
  readonly status: CallStatus;
  /** Undefined where it is not known. */
  readonly started_at: string | undefined;
  readonly ended_at: string | undefined;
  /** The end of what it has said while it ran. */
  readonly output: string;
  readonly result: string | undefined;
  readonly images: readonly MessagePart[];
  readonly decision: ApprovalDecision | undefined;
  readonly reason: string | undefined;
  /** Who was sent out by it. */
  readonly subagent_id: string | undefined;
}

export interface SummaryItem extends Placed {
  readonly kind: "summary";
  readonly text: string;
}

export interface ErrorItem extends Placed {
  readonly kind: "error";
  readonly code: string;
  readonly text: string;
}

export interface NoteItem extends Placed {
  readonly kind: "note";
  readonly tone: "plain" | "warn";
  readonly text: string;
}

/** A question that was asked, and how it was answered. */
export interface QuestionItem extends Placed {
  readonly kind: "question";
  readonly text: string;
  readonly outcome: string | undefined;
}

export interface SubagentItem extends Placed {
  readonly kind: "subagent";
  readonly subagent_id: string;
}

export type Item =
  | UserItem
  | AnswerItem
  | CallItem
  | SummaryItem
  | ErrorItem
  | NoteItem
  | QuestionItem
  | SubagentItem;

/** What one agent says and does: the session's own, or a sub-agent that it sent out. */
export interface Thread {
  readonly items: readonly Item[];
  /** Roughly the characters that the items hold. */
  readonly weight: number;
}

export interface Subagent extends Thread {
  readonly name: string;
  readonly task: string;
  readonly outcome: "done" | "failed" | "stopped" | undefined;
  /** What it brought back. */
  readonly answer: string;
}

/** All that the page knows of an agent's session. */
export interface Conversation extends Standing {
  readonly main: Thread;
  readonly subagents: ReadonlyMap<string, Subagent>;
  /** How many messages of the transcript there are, shown or not. */
  readonly total: number;
  /** The messages before this one are not shown. */
  readonly first: number;
  readonly welcome: string | undefined;
  readonly permissions: PermissionsView;
}

export type Activity = AgentSnapshot["activity"];
