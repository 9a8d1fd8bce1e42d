import type { CallItem, Conversation } from "#contract/conversation/items.ts";

export type Tone = "plain" | "good" | "warning" | "error";

/** What has been said or done, and no longer changes: it is written above once, into the scroll-back. */
export type ChatItem = { readonly depth: number } & (
  | { readonly kind: "user"; readonly text: string; readonly origin: string }
  | {
      readonly kind: "answer";
      readonly agent: string;
      readonly text: string;
      /** The beginning of an answer, not a later block of it. */
      readonly isFirst: boolean;
    }
  | { readonly kind: "call"; readonly call: CallItem; readonly isUnfolded: boolean }
  | { readonly kind: "asked"; readonly text: string; readonly detail: string }
  | { readonly kind: "summary"; readonly text: string }
  | { readonly kind: "failure"; readonly text: string }
  | { readonly kind: "note"; readonly tone: Tone; readonly text: string }
);

/** The conversation, and how much of it is written above. */
export interface ChatState {
  readonly talk: Conversation;
  /** To be written above; `written` items came before. */
  readonly items: readonly ChatItem[];
  readonly written: number;
  /** The part of the open answer that is written above. */
  readonly settled: { readonly key: string; readonly text: string };
  readonly isUnfolded: boolean;
  /** Why the session has ended for good. */
  readonly ended: string | undefined;
}

export function add(state: ChatState, ...items: readonly ChatItem[]): ChatState {
  return items.length === 0 ? state : { ...state, items: [...state.items, ...items] };
}

export function note(text: string, tone: Tone = "plain", depth = 0): ChatItem {
  return { kind: "note", text, tone, depth };
}
