import { Store } from "#web/live/store.ts";
import { KINDS, type ListChoice, ORDERS, PHASES } from "#web/sessions/session-rows.ts";

const KEY = "reins.list";

export const everything: ListChoice = {
  phase: "all",
  kind: "all",
  workspaceId: undefined,
  search: "",
  order: "newest",
};

/** Lives as long as the page, and beyond it but for what was searched. */
export const listChoice = new Store<ListChoice>(load());

export function chooseList(change: Partial<ListChoice>): void {
  listChoice.change((before) => ({ ...before, ...change }));
  const { search: _, ...kept } = listChoice.get();
  try {
    window.localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
}

function load(): ListChoice {
  try {
    return parseChoice(JSON.parse(window.localStorage.getItem(KEY) ?? "{}"));
  } catch {
    return everything;
  }
}

/** Whatever an older page, or somebody else, has left there. */
export function parseChoice(found: unknown): ListChoice {
  if (typeof found !== "object" || found === null) return everything;
  // Nothing is believed of it before it is looked at below.
  const { phase, kind, order, workspaceId } = found as Record<string, unknown>;
  return {
    phase: PHASES.find((name) => name === phase) ?? everything.phase,
    kind: KINDS.find((name) => name === kind) ?? everything.kind,
    order: ORDERS.find((name) => name === order) ?? everything.order,
    workspaceId: typeof workspaceId === "string" ? workspaceId : undefined,
    search: "",
  };
}

/** Whether something may be hidden by the choice. */
export function isNarrowed({ phase, kind, workspaceId, search }: ListChoice): boolean {
  return phase !== "all" || kind !== "all" || workspaceId !== undefined || search.trim() !== "";
}
