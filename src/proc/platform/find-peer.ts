/** The process at the other end of a unix socket, also before it accepts; undefined where the system does not say. */
export async function findPeer(fd: number): Promise<number | undefined> {
  if (process.platform !== "linux") return undefined;
  const { openLibc } = await import("#proc/linux/libc.ts");
  return openLibc().findPeer(fd);
}
