/** Text from outside, safe to print on a terminal: no control characters, so no escape sequences, and nothing reversed. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, " ");
}
