import { type ReactNode, useCallback } from "react";
import type { CallOptions } from "#client/client.ts";
import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import { sayFault } from "#web/live/page-client.ts";
import { useStore } from "#web/live/store.ts";
import { useCall } from "#web/live/use-call.ts";
import { Button } from "#web/ui/button.tsx";
import { Empty, Loading } from "#web/ui/notice.tsx";
import { useApp } from "./context.ts";

interface WithSessionProps {
  readonly sessionId: string;
  readonly children: (session: Session) => ReactNode;
}

/** From the live list, or asked for where the list does not have it. A foreign one looks like one that never was. */
export function WithSession({ sessionId, children }: WithSessionProps) {
  const { client, sessions } = useApp();
  const listed = useStore(sessions.view).sessions.get(sessionId);
  const ask = useCallback(
    (options: CallOptions) => client.call("session.get", { session_id: sessionId }, options),
    [client, sessionId],
  );
  const asked = useCall(ask);
  const session = listed ?? asked.value;
  if (session !== undefined) return children(session);
  if (asked.error === undefined) return <Loading what="Looking for the session" />;
  if (asked.error instanceof Fault && isMissing(asked.error))
    return (
      <Empty level={1} icon="question" title="There is no such session">
        <p>It was removed, or it never was here, or it is not yours to see.</p>
        <a href="#/">See all sessions</a>
      </Empty>
    );
  return (
    <Empty level={1} icon="pulse" title="The session could not be read">
      <p>{sayFault(asked.error)}</p>
      <Button onClick={asked.again}>Try again</Button>
    </Empty>
  );
}

function isMissing({ code }: Fault): boolean {
  return code === "session_not_found" || code === "invalid_request";
}
