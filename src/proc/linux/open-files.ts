import type { Libc } from "./libc.ts";

/** What login shells usually give; programs that need more raise it themselves, up to the hard limit. */
const USUAL_SOFT_LIMIT = 1024n;

/**
 * Runs with the soft limit of open files that a child should start with. Node raises its own to the hard limit,
 * and programs that use select(), or close every descriptor there could be, suffer from inheriting that.
 */
export function withOpenFiles<T>(
  libc: Pick<Libc, "openFiles">,
  wanted: number | undefined,
  run: () => T,
): T {
  const { soft, hard } = libc.openFiles.read();
  let given = wanted === undefined ? USUAL_SOFT_LIMIT : BigInt(wanted);
  if (given > hard) given = hard;
  libc.openFiles.write(given, hard);
  try {
    return run();
  } finally {
    libc.openFiles.write(soft, hard);
  }
}
