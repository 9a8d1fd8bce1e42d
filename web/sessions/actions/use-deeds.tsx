import { type ReactNode, useCallback, useState } from "react";
import type { Session } from "#contract/session.ts";
import { type App, useApp } from "#web/app/context.ts";
import { formatRoute, navigate } from "#web/app/router.ts";
import { sayFault } from "#web/live/page-client.ts";
import { nameOf } from "#web/sessions/session-name.ts";
import { copyText } from "./copy-text.ts";
import { download } from "./download.ts";
import { EndDialog } from "./end-dialog.tsx";
import { RenameDialog } from "./rename-dialog.tsx";
import type { ExportFormat, SessionDeed } from "./session-items.ts";

type Question =
  | { readonly kind: "rename"; readonly session: Session }
  | { readonly kind: "close" | "remove"; readonly sessions: readonly Session[] };

interface Deeds {
  readonly perform: (session: Session, deed: SessionDeed) => void;
  /** Asks first. */
  readonly end: (kind: "close" | "remove", sessions: readonly Session[]) => void;
  /** What is asked at the moment; to be drawn once, outside of any list. */
  readonly dialog: ReactNode;
}

type OnEnded = (kind: "close" | "remove") => void;

/** `onEnded` is told when all that was asked for has been closed or removed. */
export function useDeeds(onEnded?: OnEnded): Deeds {
  const app = useApp();
  const [question, setQuestion] = useState<Question>();
  const perform = useCallback(
    (session: Session, deed: SessionDeed) => {
      switch (deed.kind) {
        case "rename":
          return setQuestion({ kind: "rename", session });
        case "close":
        case "remove":
          return setQuestion({ kind: deed.kind, sessions: [session] });
        case "recording":
          return navigate({ name: "recording", sessionId: session.session_id, at: undefined });
        case "copy-link":
          return void copy(app, "The link", linkTo(session));
        case "copy-id":
          return void copy(app, "The id", session.session_id);
        case "interrupt":
          return void interrupt(app, session);
        case "export":
          return void exportSession(app, session, deed.format);
      }
    },
    [app],
  );
  const end = useCallback(
    (kind: "close" | "remove", sessions: readonly Session[]) => setQuestion({ kind, sessions }),
    [],
  );
  const finish = () => setQuestion(undefined);
  return { perform, end, dialog: ask(question, finish, onEnded) };
}

function ask(
  question: Question | undefined,
  onClose: () => void,
  onEnded: OnEnded | undefined,
): ReactNode {
  if (question === undefined) return null;
  if (question.kind === "rename")
    return <RenameDialog session={question.session} onClose={onClose} />;
  const { kind, sessions } = question;
  return <EndDialog kind={kind} sessions={sessions} onClose={onClose} onEnded={onEnded} />;
}

function linkTo({ session_id }: Session): string {
  const { origin, pathname } = window.location;
  return `${origin}${pathname}${formatRoute({ name: "session", sessionId: session_id })}`;
}

async function copy({ toasts }: App, what: string, text: string): Promise<void> {
  if (await copyText(text)) toasts.add("good", `${what} was copied.`);
  else toasts.add("bad", `This browser does not let a page copy. ${what}: ${text}`);
}

async function interrupt({ client, toasts }: App, session: Session): Promise<void> {
  try {
    const { signalled } = await client.call("session.interrupt", {
      session_id: session.session_id,
    });
    toasts.add("info", signalled > 0 ? "It was interrupted." : "There was nothing to interrupt.");
  } catch (error) {
    toasts.add("bad", `${nameOf(session)} could not be interrupted. ${sayFault(error)}`);
  }
}

async function exportSession(
  { client, toasts }: App,
  session: Session,
  format: ExportFormat,
): Promise<void> {
  const { session_id } = session;
  try {
    const answer = await client.document("session.export", { session_id, format });
    await download(answer, session_id);
  } catch (error) {
    toasts.add("bad", `${nameOf(session)} could not be exported. ${sayFault(error)}`);
  }
}
