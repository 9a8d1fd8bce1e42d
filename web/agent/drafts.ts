import { limits } from "#contract/limits.ts";

/** What was typed and not sent, for as long as the tab is there. A browser that keeps nothing forgets it. */
export function keepDraft(sessionId: string, text: string): void {
  try {
    if (text === "") window.sessionStorage.removeItem(keyOf(sessionId));
    else window.sessionStorage.setItem(keyOf(sessionId), text.slice(0, limits.message_chars));
  } catch {
    // Full, or forbidden.
  }
}

export function findDraft(sessionId: string): string {
  try {
    return window.sessionStorage.getItem(keyOf(sessionId)) ?? "";
  } catch {
    return "";
  }
}

const keyOf = (sessionId: string) => `reins.draft.${sessionId}`;
