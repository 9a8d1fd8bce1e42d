import type { AgentStatus } from "#contract/agent/agent-status.ts";
import type { ApprovalDecision, ElicitationAction } from "#contract/agent/events.ts";
import type { Framing, MessagePart } from "#contract/agent/message.ts";
import type {
  PendingApproval,
  PendingElicitation,
  PermissionsView,
} from "#contract/agent/views.ts";
import type { SessionFacts } from "./session-facts.ts";
import type { TurnProgress } from "./turn-outcome.ts";

interface Placed {
  /** Unique among the items of its kind in its thread, and the same whether events or a snapshot told of the item. */
  readonly key: string;
  readonly at: string;
  /** The index among the messages of the transcript; undefined for what is not a message, or not yet one. */
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
  readonly model: string;
  readonly text: string;
  readonly reasoning: string;
  /** A block of reasoning has ended, perhaps an empty one. */
  readonly hasReasoned: boolean;
  /** It grows. */
  readonly isOpen: boolean;
  readonly isInterrupted: boolean;
  /** Why it is shorter than it should be, as a sentence. */
  readonly cut: string | undefined;
}

/**
 *   writing ── message ends ──→ queued ──→ running ──→ done | failed
 *                                  │          ↑
 *                                  └→ waiting ┴──────→ rejected
 *
 * Calls of one answer run one after the other, so a call is queued until the call before it has ended, or until it shows
 * that it runs. `waiting`: for an approval. `stopped`: its turn or its worker ended before it did.
 */
export type CallStatus =
  | "writing"
  | "queued"
  | "waiting"
  | "running"
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
  /** The end of what it has printed while it ran. */
  readonly output: string;
  readonly result: string | undefined;
  /** The exit code of the command that the call ran. */
  readonly exit_code: number | undefined;
  readonly images: readonly MessagePart[];
  readonly decision: ApprovalDecision | undefined;
  readonly reason: string | undefined;
  /** The sub-agent that the call started. */
  readonly subagent_id: string | undefined;
}

interface SummaryItem extends Placed {
  readonly kind: "summary";
  readonly text: string;
}

interface ErrorItem extends Placed {
  readonly kind: "error";
  readonly code: string;
  readonly text: string;
}

export interface NoteItem extends Placed {
  readonly kind: "note";
  readonly tone: "plain" | "warn";
  readonly text: string;
}

/** A request for permission, and how it was answered. */
export interface ApprovalItem extends Placed {
  readonly kind: "approval";
  readonly asked: PendingApproval;
  readonly answer:
    | {
        readonly decision: ApprovalDecision;
        readonly reason: string | undefined;
        readonly by: "user" | "interrupt" | "headless";
      }
    | undefined;
}

/** A question, and how it was answered. */
export interface QuestionItem extends Placed {
  readonly kind: "question";
  readonly asked: PendingElicitation;
  readonly answer:
    | {
        readonly action: ElicitationAction;
        readonly content: Readonly<Record<string, unknown>> | undefined;
      }
    | undefined;
}

interface SubagentItem extends Placed {
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
  | ApprovalItem
  | QuestionItem
  | SubagentItem;

/** What one agent says and does: the session's own, or a sub-agent. */
export interface Thread {
  readonly items: readonly Item[];
  /** Roughly the characters that the items hold. */
  readonly weight: number;
}

export interface Subagent extends Thread {
  readonly name: string;
  readonly task: string;
  readonly outcome: "done" | "failed" | "stopped" | undefined;
  /** Its last message. */
  readonly answer: string;
  /** 1 = the session's own agent started it. */
  readonly depth: number;
}

/** How much of a conversation is kept; beyond these bounds the oldest items are dropped. */
export interface Bounds {
  readonly items: number;
  /** Characters that one thread may hold. */
  readonly weight: number;
  /** Sub-agents whose items are kept. */
  readonly subagents: number;
  /** Items of one sub-agent. */
  readonly subagent_items: number;
}

/** An agent's session as its events describe it. */
export interface Conversation extends SessionFacts, TurnProgress {
  readonly status: AgentStatus;
  readonly main: Thread;
  readonly subagents: ReadonlyMap<string, Subagent>;
  /** How many messages the transcript has. */
  readonly total: number;
  /** The position of the first message that is kept. */
  readonly first: number;
  readonly welcome: string | undefined;
  readonly permissions: PermissionsView;
  readonly bounds: Bounds;
}
