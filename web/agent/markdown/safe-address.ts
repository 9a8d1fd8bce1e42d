const ADDRESS_CHARS = 2000;

/** An address that may be followed, as a browser reads it; undefined for everything else. */
export function safeAddress(text: string): string | undefined {
  if (text.length > ADDRESS_CHARS) return undefined;
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined;
  // Names before an @ are there to be taken for the host.
  if (url.username !== "" || url.password !== "") return undefined;
  return url.href;
}

/** What is shown is where it leads. */
export function isPlain(text: string, address: string): boolean {
  return text === address || `${text}/` === address;
}
