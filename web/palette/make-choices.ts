import type { Session } from "#contract/session.ts";
import { revealHidden } from "#contract/text/hidden-characters.ts";
import type { Command } from "#web/app/commands.ts";
import { navigate } from "#web/app/router.ts";
import { fullNameOf, iconOf } from "#web/sessions/session-name.ts";
import { hasEnded } from "#web/sessions/state-words.ts";
import type { IconName } from "#web/ui/icons.tsx";
import type { Choice } from "./choices.ts";

const ICONS: Readonly<Record<string, IconName>> = {
  "Go to": "right",
  Start: "plus",
  Look: "sun",
  Account: "key",
  Everywhere: "keyboard",
};

/** What the view itself brings comes first; what ends a visit last. */
const GROUPS = ["Start", "Go to", "Look", "Everywhere", "Account"];

export function sortCommands(commands: readonly Command[]): readonly Command[] {
  return commands.toSorted((one, other) => GROUPS.indexOf(one.group) - GROUPS.indexOf(other.group));
}

export function ofCommand({ id, title, group, keys, run }: Command): Choice {
  return {
    id,
    kind: "command",
    title,
    note: group,
    words: [],
    icon: ICONS[group] ?? "play",
    keys,
    isAsking: false,
    isLive: false,
    at: "",
    run,
  };
}

export function ofSession(session: Session, asking: ReadonlySet<string>): Choice {
  const { session_id, kind, work_dir, last_io_at } = session;
  return {
    id: session_id,
    kind: "session",
    title: fullNameOf(session),
    note: revealHidden(work_dir, "decision"),
    words: [session_id, kind],
    icon: iconOf(session),
    isAsking: asking.has(session_id),
    isLive: !hasEnded(session),
    at: last_io_at,
    run: () => navigate({ name: "session", sessionId: session_id }),
  };
}
