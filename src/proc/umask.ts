/** For calls that start a child before they return; our own files have explicit modes, so nobody else meets this umask. */
export function withUmask<T>(umask: number | undefined, run: () => T): T {
  if (umask === undefined) return run();
  const before = process.umask(umask);
  try {
    return run();
  } finally {
    process.umask(before);
  }
}
