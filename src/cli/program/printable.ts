const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** The same JSON, with nothing in it that a terminal would obey: JSON itself escapes C0 controls alone. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Text from outside, safe to print on a terminal: no control characters, so no escape sequences, and nothing reversed. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, " ");
}

export function countSessions(count: number): string {
  return count === 1 ? "1 session" : `${count} sessions`;
}
