import type { Session } from "#contract/session.ts";
import { revealHidden } from "#contract/text/hidden-characters.ts";
import type { IconName } from "#web/ui/icons.tsx";

type Named = Pick<Session, "name" | "title" | "argv" | "session_id">;

/** How the page calls a session, as plain text that is safe for titles, notifications and labels. */
export function nameOf(session: Named): string {
  return revealHidden(rawNameOf(session), "prose");
}

/** The same as it was given, hidden characters included: to be drawn by `Isolated`. */
export function rawNameOf(session: Named): string {
  return session.name ?? (rawSubjectOf(session) || session.session_id);
}

/** The title or command of a session that is called by its own name, otherwise empty: it is shown beside the name. */
export function rawSubtitleOf(session: Named): string {
  const subject = session.name === null ? "" : rawSubjectOf(session);
  return subject === session.name ? "" : subject;
}

/** Name and subtitle in one line of plain text. */
export function fullNameOf(session: Named): string {
  return [nameOf(session), revealHidden(rawSubtitleOf(session), "prose")]
    .filter((part) => part !== "")
    .join(" · ");
}

function rawSubjectOf({ title, argv }: Named): string {
  return title === "" ? argv.join(" ") : title;
}

export function iconOf({ kind, mode }: Pick<Session, "kind" | "mode">): IconName {
  if (kind === "agent") return "agent";
  return mode === "pty" ? "terminal" : "command";
}

const KIND_WORDS: Readonly<Record<Session["kind"], string>> = {
  agent: "Agent",
  terminal: "Terminal",
  command: "Command",
};

export function kindWord({ kind }: Pick<Session, "kind">): string {
  return KIND_WORDS[kind];
}
