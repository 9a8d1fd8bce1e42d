/** `950`, `1.2k`, `34k`, `1.5M`. */
export function formatTokens(count: number): string {
  if (count < 1000) return String(count);
  // Rounded first: 999,999 is a million for whoever reads it in three digits.
  if (count < 999_500) return `${trim(count / 1000)}k`;
  return `${trim(count / 1_000_000)}M`;
}

function trim(value: number): string {
  return value < 9.95 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
}
