import { isLive } from "#contract/ended.ts";
import type { SessionRow } from "#web/sessions/session-rows.ts";

export type KeyDeed =
  | { readonly kind: "move"; readonly key: string }
  | { readonly kind: "parent" | "open" | "select" | "rename" | "menu" }
  | { readonly kind: "fold"; readonly isFolded: boolean }
  | { readonly kind: "end"; readonly how: "close" | "remove" };

interface Key {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

interface Around {
  readonly row: SessionRow | undefined;
  readonly mayChange: boolean;
  /** A button or a link inside has the focus: those keys are its own. */
  readonly isInside: boolean;
}

const MOVES = ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"];

/** What a key means to the list, or undefined where it means nothing. */
export function readKey(event: Key, around: Around): KeyDeed | undefined {
  const { key, shiftKey } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  if (MOVES.includes(key) && !shiftKey) return { kind: "move", key };
  if (around.row === undefined) return undefined;
  if (key === "ContextMenu" || (key === "F10" && shiftKey)) return { kind: "menu" };
  return shiftKey ? undefined : readPlain(key, around.row, around);
}

function readPlain(
  key: string,
  row: SessionRow,
  { isInside, mayChange }: Around,
): KeyDeed | undefined {
  if (key === "ArrowRight" || key === "ArrowLeft") return fold(key, row);
  if (isInside && (key === "Enter" || key === " ")) return undefined;
  if (key === "Enter") return { kind: "open" };
  return mayChange ? readChange(key, row) : undefined;
}

function fold(key: "ArrowRight" | "ArrowLeft", row: SessionRow): KeyDeed | undefined {
  if (key === "ArrowRight")
    return row.childCount > 0 && !row.isExpanded ? { kind: "fold", isFolded: false } : undefined;
  if (row.isExpanded) return { kind: "fold", isFolded: true };
  return row.level > 1 ? { kind: "parent" } : undefined;
}

function readChange(key: string, { session }: SessionRow): KeyDeed | undefined {
  if (key === " ") return { kind: "select" };
  if (key === "F2") return { kind: "rename" };
  if (key === "Delete") return { kind: "end", how: isLive(session) ? "close" : "remove" };
  return undefined;
}

/** The parent row of this one. */
export function findParent(rows: readonly SessionRow[], index: number): number | undefined {
  const level = rows[index]?.level ?? 1;
  const found = rows.slice(0, index).findLastIndex((row) => row.level < level);
  return found < 0 ? undefined : found;
}
