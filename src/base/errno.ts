/** The system's name of a failure (`ENOENT`), or undefined when it is not the system's. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  const code = errnoOf(error);
  return code !== undefined && codes.includes(code);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
