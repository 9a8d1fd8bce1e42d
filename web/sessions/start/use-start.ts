import { type FormEvent, useState } from "react";
import type { Session } from "#contract/session.ts";
import { type App, useApp } from "#web/app/context.ts";
import { navigate } from "#web/app/router.ts";
import { sayFault } from "#web/live/page-client.ts";
import { placeFault } from "./fault-place.ts";
import type { Checked, Problems } from "./start-input.ts";

interface Starting<T> {
  readonly check: () => Checked<T>;
  /** Gives the id of what was started. */
  readonly start: (app: App, input: T) => Promise<string>;
  /** Those that the form has a place for. */
  readonly fields: readonly string[];
}

interface Started {
  readonly problems: Problems;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly submit: (event: FormEvent) => void;
  /** What was wrong is about something else now. */
  readonly forget: () => void;
}

/** Checks what was filled in, starts it and goes there; what is wrong stays beside its field. */
export function useStart<T>({ check, start, fields }: Starting<T>): Started {
  const app = useApp();
  const [problems, setProblems] = useState<Problems>({});
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const run = async (input: T) => {
    setBusy(true);
    try {
      const sessionId = await start(app, input);
      navigate({ name: "session", sessionId });
    } catch (fault) {
      setProblems(placeFault(fault, fields));
      setError(fault);
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    const checked = check();
    setError(undefined);
    setProblems(checked.isValid ? {} : checked.problems);
    if (checked.isValid) void run(checked.input);
  };
  const forget = () => {
    setProblems({});
    setError(undefined);
  };
  return { problems, error, isBusy, submit, forget };
}

/** It is in the list before the server's event says so. */
export function noteStarted({ sessions }: App, session: Session): string {
  sessions.put(session);
  return session.session_id;
}

/** The agent runs whether it heard the message or not: it is opened, and what went wrong is said there. */
export async function sendFirst(app: App, sessionId: string, message: string): Promise<void> {
  if (message.trim() === "") return;
  try {
    const messages = [{ content: message }];
    await app.client.call("agent.send", {
      session_id: sessionId,
      messages,
      idempotency_key: createKey(),
    });
  } catch (error) {
    app.toasts.add(
      "bad",
      `The agent was started, but your message was not sent. ${sayFault(error)}`,
    );
  }
}

const KEY_BYTES = 16;

/** Sent with what must not be done twice, so that it can be asked again. */
export function createKey(): string {
  // randomUUID is not there for a page over plain HTTP.
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return `page_${bytes.toHex()}`;
}
