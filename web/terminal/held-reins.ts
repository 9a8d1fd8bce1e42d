/** The generation of the reins that this tab holds, for itself when it is reloaded. */
export interface HeldReins {
  find(): number | undefined;
  keep(generation: number | undefined): void;
}

/**
 * A page that is reloaded may be back before the server has heard the end of its old connection, which then still holds
 * the reins, in this tab's own name. Only a reload finds them: a tab that is duplicated has a copy of what is kept.
 */
export function heldReinsOf(sessionId: string): HeldReins {
  const key = `reins.held.${sessionId}`;
  return {
    find: () => {
      try {
        const kept = window.sessionStorage.getItem(key);
        return kept === null || !isReload() ? undefined : Number(kept);
      } catch {
        return undefined;
      }
    },
    keep: (generation) => {
      try {
        if (generation === undefined) window.sessionStorage.removeItem(key);
        else window.sessionStorage.setItem(key, String(generation));
      } catch {
        // Full, or forbidden: the reins are then taken by hand.
      }
    },
  };
}

function isReload(): boolean {
  return performance
    .getEntriesByType("navigation")
    .some((entry) => entry instanceof PerformanceNavigationTiming && entry.type === "reload");
}
