import { useState } from "react";
import { isLive } from "#contract/ended.ts";
import type { Session } from "#contract/session.ts";
import { type App, useApp } from "#web/app/context.ts";
import { sayFault } from "#web/live/page-client.ts";
import { nameOf, rawNameOf } from "#web/sessions/session-name.ts";
import { Button } from "#web/ui/button.tsx";
import { Dialog } from "#web/ui/dialog.tsx";
import { Notice } from "#web/ui/notice.tsx";
import { Isolated } from "#web/ui/revealed.tsx";
import css from "./dialogs.module.css";

interface EndDialogProps {
  readonly kind: "close" | "remove";
  readonly sessions: readonly Session[];
  readonly onClose: () => void;
  readonly onEnded: ((kind: "close" | "remove") => void) | undefined;
}

const NAMED_MOST = 5;

/** Closing ends what runs; removing forgets what it has written. Both are for good. */
export function EndDialog({ kind, sessions, onClose, onEnded }: EndDialogProps) {
  const app = useApp();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const verb = kind === "close" ? "Close" : "Remove";
  const count = sessions.length === 1 ? "session" : `${sessions.length} sessions`;
  const what = sessions.length === 1 ? "the session" : count;
  const end = async () => {
    setBusy(true);
    const failed = await endAll(app, sessions, kind === "remove");
    setBusy(false);
    setProblems(failed);
    if (failed.length > 0) return;
    onEnded?.(kind);
    onClose();
  };
  return (
    <Dialog title={`${verb} ${what}?`} onClose={onClose}>
      <div className={css.form}>
        <ul className={css.names}>
          {sessions.slice(0, NAMED_MOST).map((session) => (
            <li key={session.session_id}>
              <Isolated text={rawNameOf(session)} reading="prose" />
            </li>
          ))}
          {sessions.length > NAMED_MOST ? <li>and {sessions.length - NAMED_MOST} more</li> : null}
        </ul>
        <p className={css.words}>{describeEnd(kind, sessions)}</p>
        {problems.length === 0 ? null : (
          <Notice tone="bad">
            {problems.slice(0, NAMED_MOST).map((problem) => (
              <p key={problem}>{problem}</p>
            ))}
          </Notice>
        )}
        <div className={css.buttons}>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="danger" disabled={isBusy} onClick={() => void end()}>
            {verb} {count}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function describeEnd(kind: "close" | "remove", sessions: readonly Session[]): string {
  if (kind === "remove")
    return "What was written is removed with it: the output, the recording, the conversation. This cannot be undone.";
  return sessions.some(isLive)
    ? "What runs is ended, with everything that it started. What was written stays and can still be read."
    : "It has ended already. What was written stays and can still be read.";
}

/** One after the other: closing waits for processes to end, and a server has other things to do. */
async function endAll(
  { client, sessions: list }: App,
  sessions: readonly Session[],
  purge: boolean,
): Promise<string[]> {
  const problems: string[] = [];
  for (const session of sessions) {
    const { session_id } = session;
    try {
      const ended = await client.call(
        "session.close",
        purge ? { session_id, purge } : { session_id },
      );
      // The event that it is gone must not be followed by what it was.
      if (!purge) list.put(ended);
    } catch (error) {
      problems.push(`${nameOf(session)}: ${sayFault(error)}`);
    }
  }
  return problems;
}
