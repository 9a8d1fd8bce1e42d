import { type ReactNode, useEffect, useState } from "react";
import type { Identity } from "#contract/operations/access.ts";
import { createPageClient, sayFault } from "#web/live/page-client.ts";
import { Sessions } from "#web/live/sessions.ts";
import { Commands } from "#web/palette/commands.ts";
import { Loading } from "#web/ui/notice.tsx";
import { Toasts } from "#web/ui/toasts.tsx";
import { type App, AppContext } from "./context.ts";
import { Door } from "./door.tsx";
import { Shell } from "./shell.tsx";
import { takeTicket } from "./ticket.ts";

type Entrance =
  | { readonly kind: "asking" }
  | { readonly kind: "outside"; readonly why: string | undefined }
  | { readonly kind: "inside"; readonly app: App };

/** Lets somebody in by the ticket of the address or the cookie of before, or shows the door. */
export function Entry() {
  const [entrance, setEntrance] = useState<Entrance>({ kind: "asking" });
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt is the same thing again.
  useEffect(() => {
    const ending = new AbortController();
    const leave = (why: string | undefined) => {
      if (!ending.signal.aborted) setEntrance({ kind: "outside", why });
    };
    const client = createPageClient(() => leave("You were let in for a time, and it is over."));
    enter(client).then(
      (identity) => {
        if (ending.signal.aborted) return;
        const sessions = new Sessions(client);
        void sessions.follow(ending.signal);
        const app = { client, identity, sessions, commands: new Commands(), toasts: new Toasts() };
        setEntrance({ kind: "inside", app });
      },
      (error: unknown) => leave(error instanceof NoCookie ? undefined : sayFault(error)),
    );
    return () => ending.abort();
  }, [attempt]);
  const again = () => {
    setEntrance({ kind: "asking" });
    setAttempt((count) => count + 1);
  };
  return draw(entrance, again);
}

function draw(entrance: Entrance, again: () => void): ReactNode {
  switch (entrance.kind) {
    case "asking":
      return <Loading what="Opening" />;
    case "outside":
      return <Door why={entrance.why} onTicket={again} />;
    case "inside":
      return (
        <AppContext value={entrance.app}>
          <Shell />
        </AppContext>
      );
  }
}

/** Nobody has been here before: that is no mistake of anybody's. */
class NoCookie extends Error {}

async function enter(client: App["client"]): Promise<Identity> {
  const ticket = takeTicket();
  if (ticket !== undefined) return await client.call("ticket.exchange", { ticket });
  try {
    return await client.call("caller.get", {});
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "unauthenticated")
      throw new NoCookie();
    throw error;
  }
}
