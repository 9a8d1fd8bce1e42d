import type { Session } from "#contract/session.ts";
import { hasEnded } from "#web/sessions/state-words.ts";

/** A moment that the server reported for the status, and the word that joins the two. */
export interface StatusMoment {
  readonly at: string;
  /** `for`: time passes, `2:13`. */
  readonly word: "for" | "since" | "at";
}

type Timed = Pick<
  Session,
  "status" | "state" | "kind" | "turn" | "needs" | "created_at" | "exited_at"
>;

/** Undefined where the server reports no moment for the status: none is derived from another one. */
export function findMoment(session: Timed): StatusMoment | undefined {
  const { status, kind, turn, needs, created_at, exited_at } = session;
  if (hasEnded(session)) return momentOf(exited_at, "at");
  switch (status) {
    case "working":
      return momentOf(turn?.started_at, "for");
    case "needs_you":
      return momentOf(oldest(needs), "since");
    case "sleeping":
      return momentOf(exited_at, "since");
    case "running":
      // A terminal or a command starts once, when it is created.
      return kind === "agent" ? undefined : momentOf(created_at, "for");
    default:
      return undefined;
  }
}

function oldest(needs: Session["needs"]): string | undefined {
  return needs.map(({ since }) => since).sort()[0];
}

function momentOf(
  at: string | null | undefined,
  word: StatusMoment["word"],
): StatusMoment | undefined {
  if (at === null || at === undefined || Number.isNaN(Date.parse(at))) return undefined;
  return { at, word };
}
