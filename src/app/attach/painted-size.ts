import type { SessionHandle } from "#session/session-host.ts";

/** The size that a client knows, and the serial of the resize that it comes from. */
export interface KnownSize {
  readonly cols: number | null;
  readonly rows: number | null;
  readonly serial: number;
}

/** The serial of the resize that a painted screen includes: earlier ones are not told again, and no later one is missed. */
export function findPainted(
  { sizes, eventsTail }: Pick<SessionHandle, "sizes" | "eventsTail">,
  painted: { readonly cols: number; readonly rows: number; readonly offset: number },
  { serial }: KnownSize,
): number {
  let found = serial;
  let next = sizes.after(serial, eventsTail);
  while (next !== undefined && next.offset <= painted.offset) {
    if (next.cols === painted.cols && next.rows === painted.rows) found = next.serial;
    next = sizes.after(next.serial, eventsTail);
  }
  return found;
}
