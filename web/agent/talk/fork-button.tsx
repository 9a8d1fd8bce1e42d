import { useAgent } from "#web/agent/agent-context.ts";
import { keepDraft } from "#web/agent/drafts.ts";
import { useAction } from "#web/agent/use-action.ts";
import { useApp } from "#web/app/context.ts";
import { navigate } from "#web/app/router.ts";
import { IconButton } from "#web/ui/button.tsx";
import css from "./talk.module.css";

interface ForkButtonProps {
  /** How many messages the new session begins with. */
  readonly at: number;
  readonly label: string;
  /** What waits in the new session's composer. */
  readonly draft: string;
}

/** Makes a new session from the messages before this place, and goes there. */
export function ForkButton({ at, label, draft }: ForkButtonProps) {
  const { client } = useApp();
  const { session, mayAct } = useAgent();
  const forking = useAction();
  if (!mayAct) return null;
  const fork = () =>
    forking.run(async () => {
      const { session_id } = await client.call("agent.fork", {
        session_id: session.session_id,
        at,
      });
      if (draft !== "") keepDraft(session_id, draft);
      navigate({ name: "session", sessionId: session_id });
    });
  return (
    <>
      <IconButton icon="fork" label={label} disabled={forking.isBusy} onClick={() => void fork()} />
      {forking.problem === undefined ? null : (
        <span className={css.problem} role="alert">
          {forking.problem}
        </span>
      )}
    </>
  );
}
