import { useEffect, useState } from "react";
import { AppContext } from "#web/app/context.ts";
import { SignIn } from "#web/app/sign-in.ts";
import { takeTicket } from "#web/app/ticket.ts";
import { createPageClient } from "#web/live/page-client.ts";
import { useStore } from "#web/live/store.ts";
import { Loading } from "#web/ui/notice.tsx";
import { Door } from "./door.tsx";
import { Shell } from "./shell.tsx";

/** Signs in by the ticket of the address or the cookie of before, or shows how to get a ticket. */
export function Entry() {
  const [signIn] = useState(() => new SignIn(createPageClient));
  useEffect(() => {
    void signIn.enter(takeTicket());
    // An address that is pasted into this tab loads no new page.
    const onHash = () => {
      const taken = takeTicket();
      if (taken !== undefined) void signIn.enter(taken);
    };
    window.addEventListener("hashchange", onHash);
    return () => window.removeEventListener("hashchange", onHash);
  }, [signIn]);
  const entrance = useStore(signIn.view);
  switch (entrance.kind) {
    case "asking":
      return <Loading what="Opening" />;
    case "outside":
      return <Door why={entrance.why} onTicket={(ticket) => void signIn.enter({ ticket })} />;
    case "inside":
      return (
        <AppContext value={entrance.app}>
          <Shell key={entrance.app.identity.user_id} />
        </AppContext>
      );
  }
}
