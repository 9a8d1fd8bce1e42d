/** Arguments of one call: more would overflow the stack. */
const CHUNK_BYTES = 8192;

/** Browsers and Node share only `btoa`, which takes characters for bytes. */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES));
  return btoa(text);
}

/** Undefined for what is none: thrown in a socket's listener it would end the process. */
export function findBase64(text: unknown): Uint8Array | undefined {
  if (typeof text !== "string") return undefined;
  const binary = decode(text);
  if (binary === undefined) return undefined;
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

function decode(text: string): string | undefined {
  try {
    return atob(text);
  } catch {
    // The decoder's only complaint.
    return undefined;
  }
}
