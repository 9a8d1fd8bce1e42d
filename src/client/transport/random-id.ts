const ID_BYTES = 16;

/** Not `randomUUID`, which a browser has only on pages that came by TLS. */
export function createId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
