import type { Standing } from "#contract/agent/standing.ts";
export type Tone = "plain" | "good" | "warning" | "error";

/** A call of a tool that has no result yet. */
export interface OpenCall {
  readonly call_id: string;
  readonly tool: string;
  /** Undefined while the model writes it, and when it was written before we came. */
  readonly input: unknown;
  readonly message_id: string | undefined;
  readonly subagent_id: string | undefined;
  readonly started_at: string;
  /** The end of what it has said. */
  readonly output: string;
}

export interface DoneCall extends Omit<OpenCall, "message_id" | "subagent_id"> {
  readonly is_error: boolean;
  /** Undefined when its beginning is not known. */
  readonly duration_ms: number | undefined;
}

/** What has been said or done, and stays as it is: it is written above, into the scroll-back. */
export type ChatItem = { readonly depth: number } & (
  | { readonly kind: "user"; readonly text: string; readonly origin: string }
  | {
      readonly kind: "answer";
      readonly agent: string;
      readonly text: string;
      /** The beginning of an answer, and not a later block of it. */
      readonly isFirst: boolean;
    }
  | { readonly kind: "call"; readonly call: DoneCall; readonly isUnfolded: boolean }
  | { readonly kind: "asked"; readonly text: string; readonly detail: string }
  | { readonly kind: "summary"; readonly text: string }
  | { readonly kind: "failure"; readonly text: string }
  | { readonly kind: "note"; readonly tone: Tone; readonly text: string }
);

/** An answer that has not ended. */
export interface OpenAnswer {
  readonly message_id: string;
  readonly subagent_id: string | undefined;
  readonly agent: string;
  readonly text: string;
  /** How much of the text is written above. */
  readonly settled: number;
  /** The end of what it thinks. */
  readonly reasoning: string;
}

export interface Subagent {
  readonly subagent_id: string;
  readonly name: string;
  readonly depth: number;
}

/** All that the chat view shows of a session. */
export interface ChatState extends Standing {
  /** What is to be written above; `written` came before. */
  readonly items: readonly ChatItem[];
  readonly written: number;
  readonly answers: readonly OpenAnswer[];
  readonly calls: readonly OpenCall[];
  readonly subagents: readonly Subagent[];
  /** Something was said, so nobody is welcomed any more. */
  readonly hasBegun: boolean;
  readonly isUnfolded: boolean;
  /** To be unfolded when somebody asks for it. */
  readonly lastCall: DoneCall | undefined;
  /** Why the session has ended for good. */
  readonly ended: string | undefined;
}

export function add(state: ChatState, ...items: readonly ChatItem[]): ChatState {
  return items.length === 0 ? state : { ...state, items: [...state.items, ...items] };
}

export function note(text: string, tone: Tone = "plain", depth = 0): ChatItem {
  return { kind: "note", text, tone, depth };
}

/** How far to the right a sub-agent's doings stand. */
export function depthOf({ subagents }: ChatState, subagentId: string | undefined): number {
  if (subagentId === undefined) return 0;
  return subagents.find(({ subagent_id }) => subagent_id === subagentId)?.depth ?? 1;
}
