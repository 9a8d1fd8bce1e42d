import { lazy } from "react";
import { WithSession } from "#web/app/with-session.tsx";

const AgentView = lazy(async () => {
  const module = await import("#web/agent/view/agent-view.tsx");
  return { default: module.AgentView };
});
const TerminalView = lazy(async () => {
  const module = await import("#web/terminal/view/terminal-view.tsx");
  return { default: module.TerminalView };
});

/** One session, by what it is. */
export function SessionPage({ sessionId }: { readonly sessionId: string }) {
  return (
    <WithSession sessionId={sessionId}>
      {(session) =>
        session.kind === "agent" ? (
          <AgentView session={session} />
        ) : (
          <TerminalView session={session} />
        )
      }
    </WithSession>
  );
}
