import type { Conversation, Item, NoteItem, Subagent, Thread } from "./items.ts";

export const emptyThread: Thread = { items: [], weight: 0 };

export function findItem<K extends Item["kind"]>(
  thread: Thread,
  kind: K,
  key: string | undefined,
): Extract<Item, { kind: K }> | undefined {
  // The item is nearly always among the last ones.
  const found = thread.items.findLast((item) => item.kind === kind && item.key === key);
  // The kind was compared.
  return found as Extract<Item, { kind: K }> | undefined;
}

/** Replaces the item with the same key, or appends. */
export function putItem(thread: Thread, item: Item): Thread {
  const at = thread.items.findLastIndex(({ kind, key }) => kind === item.kind && key === item.key);
  const before = thread.items[at];
  if (before === undefined)
    return { ...thread, items: [...thread.items, item], weight: thread.weight + weigh(item) };
  if (before === item) return thread;
  const weight = thread.weight + weigh(item) - weigh(before);
  return { ...thread, items: thread.items.with(at, item), weight };
}

export function keepItems(thread: Thread, isKept: (item: Item) => boolean): Thread {
  const items = thread.items.filter(isKept);
  if (items.length === thread.items.length) return thread;
  return { ...thread, items, weight: weighAll(items) };
}

export function mapItems(thread: Thread, change: (item: Item) => Item): Thread {
  let isChanged = false;
  const items = thread.items.map((item) => {
    const next = change(item);
    isChanged ||= next !== item;
    return next;
  });
  return isChanged ? { ...thread, items } : thread;
}

export function threadOf(state: Conversation, subagentId: string | undefined): Thread {
  if (subagentId === undefined) return state.main;
  return state.subagents.get(subagentId) ?? emptyThread;
}

export function changeThread(
  state: Conversation,
  subagentId: string | undefined,
  change: (thread: Thread) => Thread,
): Conversation {
  if (subagentId === undefined) {
    const main = change(state.main);
    return main === state.main ? state : boundMain({ ...state, main });
  }
  const before = state.subagents.get(subagentId) ?? unknownSubagent;
  const after = bound(change(before), state.bounds.subagent_items, state.bounds.weight);
  if (after.items === before.items) return state;
  return putSubagent(state, subagentId, { ...before, ...after });
}

/** A sub-agent whose start is not in the events that were applied. */
export const unknownSubagent: Subagent = {
  ...emptyThread,
  name: "",
  task: "",
  outcome: undefined,
  answer: "",
  depth: 1,
};

/** The oldest sub-agents that have ended keep only their outcome; when there are ten times as many, they are dropped. */
export function putSubagent(state: Conversation, id: string, subagent: Subagent): Conversation {
  const subagents = new Map(state.subagents).set(id, subagent);
  const most = state.bounds.subagents;
  if (subagents.size > most)
    for (const [oldId, old] of subagents) {
      if (old.outcome === undefined) continue;
      if (old.items.length > 0) subagents.set(oldId, { ...old, ...emptyThread });
      if (subagents.size > 10 * most) subagents.delete(oldId);
      else break;
    }
  return { ...state, subagents };
}

interface Told {
  readonly type: string;
  readonly at: string;
  readonly subagent_id?: string | undefined;
}

export function addNote(
  state: Conversation,
  event: Told,
  note: Pick<NoteItem, "text" | "tone">,
): Conversation {
  const { at, subagent_id } = event;
  return changeThread(state, subagent_id, (thread) =>
    putItem(thread, { kind: "note", key: keyAt(thread, event), at, position: undefined, ...note }),
  );
}

/** A key for an item without an id; the same events give the same keys. */
export function keyAt(thread: Thread, event: Told): string {
  return `${event.type}@${event.at}#${thread.items.length}`;
}

function boundMain(state: Conversation): Conversation {
  const main = bound(state.main, state.bounds.items, state.bounds.weight);
  if (main === state.main) return state;
  const first = main.items.find(({ position }) => position !== undefined)?.position;
  return { ...state, main, first: Math.max(state.first, first ?? state.total) };
}

/** Drops the oldest items, several at once, so that a long conversation is not cut at each word; never an open one. */
function bound<T extends Thread>(thread: T, most: number, heaviest: number): T {
  const { length } = thread.items;
  if (length <= most && thread.weight <= heaviest) return thread;
  const firstOpen = thread.items.findIndex(isOpen);
  const closed = firstOpen === -1 ? length - 1 : firstOpen;
  const cut = Math.min(closed, Math.ceil(most / 5), Math.ceil(length / 4));
  if (cut === 0) return thread;
  const items = thread.items.slice(cut);
  return bound({ ...thread, items, weight: weighAll(items) }, most, heaviest);
}

/** It has not ended, so events will change it. */
export function isOpen(item: Item): boolean {
  if (item.kind === "answer") return item.isOpen;
  return item.kind === "call" && item.result === undefined && item.status !== "stopped";
}

export function weighAll(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + weigh(item), 0);
}

const ITEM_WEIGHT = 200;

function weigh(item: Item): number {
  switch (item.kind) {
    case "user":
      return item.content.reduce((sum, part) => sum + weighPart(part), ITEM_WEIGHT);
    case "answer":
      return ITEM_WEIGHT + item.text.length + item.reasoning.length;
    case "call":
      return item.images.reduce(
        (sum, part) => sum + weighPart(part),
        ITEM_WEIGHT + item.output.length + (item.result?.length ?? 0) + weighInput(item.input),
      );
    case "approval":
    case "question":
      return ITEM_WEIGHT + weighInput(item.asked);
    case "subagent":
      return ITEM_WEIGHT;
    default:
      return ITEM_WEIGHT + item.text.length;
  }
}

function weighPart(part: { readonly text?: string; readonly data_b64?: string | undefined }) {
  return (part.text?.length ?? 0) + (part.data_b64?.length ?? 0);
}

/** Texts are what is large in an input; measuring it exactly would cost more than it holds. */
function weighInput(input: unknown): number {
  if (typeof input === "string") return input.length;
  if (typeof input !== "object" || input === null) return 0;
  return Object.values(input).reduce((sum: number, value) => sum + weighInput(value), 0);
}
