const KEY = "reins.recent";
const REMEMBERED = 12;

/** What this browser chose last in the palette, the newest first. */
export function readRecent(): readonly string[] {
  try {
    return parseRecent(JSON.parse(window.localStorage.getItem(KEY) ?? "[]"));
  } catch {
    return [];
  }
}

export function noteRecent(id: string): void {
  try {
    window.localStorage.setItem(KEY, JSON.stringify(addRecent(readRecent(), id)));
  } catch {
    // A browser that keeps nothing has no recent things.
  }
}

export function addRecent(recent: readonly string[], id: string): readonly string[] {
  return [id, ...recent.filter((other) => other !== id)].slice(0, REMEMBERED);
}

export function parseRecent(found: unknown): readonly string[] {
  if (!Array.isArray(found)) return [];
  return found.filter((id): id is string => typeof id === "string").slice(0, REMEMBERED);
}
