import type { Session } from "#contract/session.ts";
import { revealHidden } from "#contract/text/hidden-characters.ts";
import type { IconName } from "#web/ui/icons.tsx";

type Named = Pick<Session, "title" | "argv" | "session_id">;

/** The name of a session as plain text, safe for titles, notifications and labels. */
export function nameOf(session: Named): string {
  return revealHidden(rawNameOf(session), "prose");
}

/** As it was given, hidden characters included: to be drawn by `Isolated`. */
export function rawNameOf({ title, argv, session_id }: Named): string {
  if (title !== "") return title;
  return argv.length === 0 ? session_id : argv.join(" ");
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
