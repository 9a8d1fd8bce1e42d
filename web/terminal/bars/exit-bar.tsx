import { useState } from "react";
import type { Session } from "#contract/session.ts";
import { mayDo, useApp } from "#web/app/context.ts";
import { formatRoute, navigate } from "#web/app/router.ts";
import { sayFault } from "#web/live/page-client.ts";
import type { Exit } from "#web/terminal/control-state.ts";
import { describeExit } from "#web/terminal/exit.ts";
import { Badge } from "#web/ui/badge.tsx";
import { Button } from "#web/ui/button.tsx";
import css from "./exit-bar.module.css";

/** It is over: how, and what one can do now. */
export function ExitBar({ session, exit }: { readonly session: Session; readonly exit: Exit }) {
  const { tone, badge, sentence } = describeExit(exit, session);
  const { identity } = useApp();
  return (
    <div className={css.bar} role="status">
      <Badge tone={tone}>{badge}</Badge>
      <span className={css.sentence}>{sentence}</span>
      <span className={css.actions}>
        {session.mode === "pty" ? (
          <a
            className={css.link}
            href={formatRoute({
              name: "recording",
              sessionId: session.session_id,
              at: undefined,
            })}
          >
            Watch the recording
          </a>
        ) : null}
        {mayDo(identity, "operator") ? <Another session={session} /> : null}
      </span>
    </div>
  );
}

function Another({ session }: { readonly session: Session }) {
  const { client, sessions, toasts } = useApp();
  const [isBusy, setIsBusy] = useState(false);
  const start = async () => {
    setIsBusy(true);
    const { kind, argv, work_dir, title, workspace_id, task_id } = session;
    try {
      const made = await client.call("session.create", {
        kind: kind === "command" ? "command" : "terminal",
        ...(argv.length === 0 ? {} : { argv }),
        work_dir,
        workspace_id,
        ...(title === "" ? {} : { title }),
        ...(task_id === null ? {} : { task_id }),
      });
      sessions.put(made);
      navigate({ name: "session", sessionId: made.session_id });
    } catch (error) {
      toasts.add("bad", sayFault(error));
      setIsBusy(false);
    }
  };
  return (
    <Button size="small" icon="plus" disabled={isBusy} onClick={() => void start()}>
      New one like it
    </Button>
  );
}
