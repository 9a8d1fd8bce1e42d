import { useMemo } from "react";
import type { Session } from "#contract/session.ts";
import { useCommands } from "#web/app/commands.ts";
import { mayDo, useApp } from "#web/app/context.ts";
import { navigate } from "#web/app/router.ts";
import { ActionsMenu } from "#web/sessions/actions/actions-menu.tsx";
import { listItems } from "#web/sessions/actions/session-items.ts";
import { useDeeds } from "#web/sessions/actions/use-deeds.tsx";

/** What can be done with the session that is open; the palette has the same. */
export function SessionMenu({ session }: { readonly session: Session }) {
  const { identity } = useApp();
  const { perform, dialog } = useDeeds(leaveRemoved);
  const commands = useMemo(
    () =>
      listItems(session, mayDo(identity, "operator")).map((item) => ({
        id: `session.${item.label}`,
        group: "This session",
        title: item.label,
        run: () => perform(session, item.deed),
      })),
    [session, identity, perform],
  );
  useCommands(commands);
  return (
    <>
      <ActionsMenu session={session} label="Session menu" onDeed={perform} />
      {dialog}
    </>
  );
}

/** Of what was removed there is nothing left to look at. */
function leaveRemoved(kind: "close" | "remove"): void {
  if (kind === "remove") navigate({ name: "sessions" });
}
