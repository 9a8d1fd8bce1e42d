import { Fault } from "#contract/fault.ts";
import type { ScreenText } from "#contract/operations/screen.ts";
import type { SessionState } from "#contract/session-state.ts";
import type { TerminalView } from "#contract/tools/terminal-tools.ts";
import type { Screens } from "#screen/screens.ts";
import type { SessionHandle } from "#session/session-host.ts";

/** The screen, and the state that was known before it was drawn: of one that has ended it is the last screen. */
export interface Sight {
  readonly screen: ScreenText;
  readonly state: SessionState;
}

export async function lookAt(screens: Screens, handle: SessionHandle): Promise<Sight> {
  const { state } = handle.session;
  return { state, screen: await screens.text(handle) };
}

/** What a model is told of a sight, and what changed since an earlier one. */
export async function describeSight(
  screens: Screens,
  handle: SessionHandle,
  { sight, since }: { readonly sight: Sight; readonly since: number | undefined },
): Promise<TerminalView> {
  const { screen, state } = sight;
  const { cursor, title, alternate, cols, rows, offset } = screen;
  const view = { screen: toText(screen), cursor, title, alternate, cols, rows, offset, state };
  const changed =
    since === undefined
      ? {}
      : { changed: compare(await findEarlier(screens, handle, since), screen) };
  return { terminal_id: handle.session.session_id, ...view, ...changed };
}

/** Without the blank rows at its end. */
export function toText({ lines }: Pick<ScreenText, "lines">): string {
  return lines.join("\n").trimEnd();
}

/** Said before anything is done: what was typed cannot be taken back for a wrong number beside it. */
export function checkSince(handle: SessionHandle, since: number | undefined): void {
  if (since === undefined || since <= handle.tail) return;
  const message = `since: there is no offset ${since} in this terminal's output, which ends at ${handle.tail}; pass the offset of an earlier answer`;
  throw new Fault("offset_out_of_range", message, {
    details: { tail: handle.tail, first: handle.output.first() },
  });
}

async function findEarlier(
  screens: Screens,
  handle: SessionHandle,
  since: number,
): Promise<ScreenText | undefined> {
  try {
    return await screens.text(handle, since);
  } catch (error) {
    // Too far back to be drawn in time; then everything is news.
    if (error instanceof Fault && error.code === "busy") return undefined;
    throw error;
  }
}

/** Every line, when what stood there before is not known for sure. */
function compare(
  before: ScreenText | undefined,
  now: ScreenText,
): { readonly row: number; readonly text: string }[] {
  const isKnown =
    before?.exact === true && now.exact && before.cols === now.cols && before.rows === now.rows;
  return now.lines
    .map((text, row) => ({ row, text }))
    .filter(({ row, text }) => !isKnown || before.lines[row] !== text);
}
