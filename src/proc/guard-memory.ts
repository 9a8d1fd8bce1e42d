/** Keeps other programs of the same user from reading our memory and environment, where keys may be. */
export async function guardMemory(): Promise<void> {
  // Elsewhere the system does not let one ask for it.
  if (process.platform !== "linux") return;
  const { openLibc } = await import("./linux/libc.ts");
  openLibc().forbidDump();
}
