import { useCallback, useMemo, useState } from "react";
import type { Session } from "#contract/session.ts";
import { Store, useStore } from "#web/live/store.ts";

/** Of each kind of mark; the oldest is forgotten first. */
const MARKS_MOST = 1000;

/** Kept while the page is open: who comes back to the list finds it as it was. */
const folds = new Store<ReadonlySet<string>>(new Set());

export function useFolded() {
  const folded = useStore(folds);
  const fold = useCallback((sessionId: string, isFolded: boolean) => {
    folds.change((before) => mark(before, sessionId, isFolded));
  }, []);
  return { folded, fold };
}

export interface Selected {
  readonly ids: ReadonlySet<string>;
  /** Those of them that are still there. */
  readonly sessions: readonly Session[];
}

export function useSelected(sessions: ReadonlyMap<string, Session>) {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const selected = useMemo<Selected>(() => {
    const found = [...marked].flatMap((id) => sessions.get(id) ?? []);
    return { ids: new Set(found.map(({ session_id }) => session_id)), sessions: found };
  }, [marked, sessions]);
  const toggle = useCallback(
    (sessionId: string) => setMarked((before) => mark(before, sessionId, !before.has(sessionId))),
    [],
  );
  const clear = useCallback(() => setMarked(new Set()), []);
  return { selected, toggle, clear };
}

function mark(before: ReadonlySet<string>, id: string, isMarked: boolean): ReadonlySet<string> {
  const others = [...before].filter((other) => other !== id);
  return new Set(isMarked ? [...others, id].slice(-MARKS_MOST) : others);
}
