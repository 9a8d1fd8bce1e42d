/** The process at the other end of a unix socket, also when it has not accepted yet; undefined where that cannot be told. */
export async function findPeer(fd: number): Promise<number | undefined> {
  if (process.platform !== "linux") return undefined;
  const { openLibc } = await import("./linux/libc.ts");
  return openLibc().findPeer(fd);
}
