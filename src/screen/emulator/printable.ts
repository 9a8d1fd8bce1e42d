/** Without anything that a terminal would take for more than text. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, "");
}
