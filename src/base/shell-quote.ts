/** What no shell reads anything into. */
const PLAIN = /^[\w@%+:,./-]+$/;

/** One word of a POSIX shell, whatever is in it. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** For what people read: quoted only where it has to be. */
export function quoteIfNeeded(text: string): string {
  return PLAIN.test(text) ? text : quote(text);
}
