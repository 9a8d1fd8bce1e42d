import type { Conversation, Item, NoteItem, Subagent, Thread } from "./items.ts";

/** Items of one thread; when there are more, the oldest are left out until somebody asks for them. */
export const ITEMS_MOST = 1500;
/** So many are left out at once, so that a long talk is not cut at each word. */
const ITEMS_CUT = 300;
/** Characters that one thread may hold. */
const WEIGHT_MOST = 16 * 1024 * 1024;
const SUBAGENT_ITEMS_MOST = 300;
/** Sub-agents whose doings are kept; of the ones before only their end is. */
const SUBAGENTS_MOST = 100;

export const emptyThread: Thread = { items: [], weight: 0 };

export function findItem<K extends Item["kind"]>(
  thread: Thread,
  kind: K,
  key: string | undefined,
): Extract<Item, { kind: K }> | undefined {
  // What is looked for is nearly always among the last ones.
  const found = thread.items.findLast((item) => item.kind === kind && item.key === key);
  // The kind was compared.
  return found as Extract<Item, { kind: K }> | undefined;
}

/** In place of the one with its key, or behind all. */
export function putItem(thread: Thread, item: Item): Thread {
  const at = thread.items.findLastIndex(({ kind, key }) => kind === item.kind && key === item.key);
  const before = thread.items[at];
  if (before === undefined)
    return { ...thread, items: [...thread.items, item], weight: thread.weight + weigh(item) };
  const weight = thread.weight + weigh(item) - weigh(before);
  return { ...thread, items: thread.items.with(at, item), weight };
}

export function keepItems(thread: Thread, isKept: (item: Item) => boolean): Thread {
  const items = thread.items.filter(isKept);
  if (items.length === thread.items.length) return thread;
  return { ...thread, items, weight: weighAll(items) };
}

export function mapItems(thread: Thread, change: (item: Item) => Item): Thread {
  const items = thread.items.map(change);
  return items.every((item, at) => item === thread.items[at]) ? thread : { ...thread, items };
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
  const after = bound(change(before), SUBAGENT_ITEMS_MOST);
  if (after.items === before.items) return state;
  return putSubagent(state, subagentId, { ...before, ...after });
}

/** One that was sent out before we came: its events tell only its name. */
export const unknownSubagent: Subagent = {
  ...emptyThread,
  name: "",
  task: "",
  outcome: undefined,
  answer: "",
};

export function putSubagent(state: Conversation, id: string, subagent: Subagent): Conversation {
  const subagents = new Map(state.subagents).set(id, subagent);
  if (subagents.size > SUBAGENTS_MOST)
    for (const [oldId, old] of subagents) {
      if (old.outcome === undefined) continue;
      if (old.items.length > 0) subagents.set(oldId, { ...old, ...emptyThread });
      if (subagents.size > 10 * SUBAGENTS_MOST) subagents.delete(oldId);
      else break;
    }
  return { ...state, subagents };
}

export function addNote(
  state: Conversation,
  subagentId: string | undefined,
  note: Pick<NoteItem, "key" | "at" | "text"> & { readonly tone?: NoteItem["tone"] },
): Conversation {
  return changeThread(state, subagentId, (thread) =>
    putItem(thread, { kind: "note", tone: "plain", position: undefined, ...note }),
  );
}

/** A key for what has none of its own; the same events give the same keys. */
export function keyAt(thread: Thread, event: { readonly type: string; readonly at: string }) {
  return `${event.type}@${event.at}#${thread.items.length}`;
}

function boundMain(state: Conversation): Conversation {
  const main = bound(state.main, ITEMS_MOST);
  if (main === state.main) return state;
  const first = main.items.find(({ position }) => position !== undefined)?.position;
  return { ...state, main, first: Math.max(state.first, first ?? state.total) };
}

function bound<T extends Thread>(thread: T, most: number): T {
  const isFull = thread.items.length > most || thread.weight > WEIGHT_MOST;
  if (!isFull || thread.items.length < 2) return thread;
  const cut = Math.min(ITEMS_CUT, Math.ceil(thread.items.length / 4));
  const items = thread.items.slice(cut);
  return bound({ ...thread, items, weight: weighAll(items) }, most);
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
