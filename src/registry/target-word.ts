/** What a word that names a run means. A word is of one kind only; what is not found by its kind is not looked for by another. */
type TargetWord =
  | { readonly kind: "latest" }
  | { readonly kind: "pid"; readonly pid: number }
  | { readonly kind: "address"; readonly address: string }
  | { readonly kind: "id"; readonly part: string };

export function parseTarget(word: string | undefined): TargetWord {
  const text = word?.trim() ?? "";
  if (text === "" || text === "latest") return { kind: "latest" };
  if (/^[+-]?\d+$/.test(text)) return { kind: "pid", pid: Number(text) };
  if (isAddress(text)) return { kind: "address", address: normalizeAddress(text) };
  return { kind: "id", part: text };
}

export function isAddress(text: string): boolean {
  return /^(https?:\/\/|unix:)/i.test(text);
}

/** As it is compared: without slashes at the end, and the name in small letters. */
export function normalizeAddress(text: string): string {
  const trimmed = text.trim().replace(/\/+$/, "");
  if (/^unix:/i.test(trimmed)) return `unix:${trimmed.slice("unix:".length)}`;
  const url = URL.parse(trimmed);
  return url === null ? trimmed : `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}
