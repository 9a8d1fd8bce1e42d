/** Text from outside, safe to print on a terminal: no control characters, so no escape sequences. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
}
