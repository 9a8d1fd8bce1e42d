import { type FormEvent, useState } from "react";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import { useApp } from "#web/app/context.ts";
import { sayFault } from "#web/live/page-client.ts";
import { Button } from "#web/ui/button.tsx";
import { Dialog } from "#web/ui/dialog.tsx";
import { Field } from "#web/ui/field.tsx";
import css from "./dialogs.module.css";

interface RenameDialogProps {
  readonly session: Session;
  readonly onClose: () => void;
}

export function RenameDialog({ session, onClose }: RenameDialogProps) {
  const { client, sessions } = useApp();
  const [title, setTitle] = useState(session.title);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const rename = async () => {
    setBusy(true);
    try {
      const { session_id } = session;
      sessions.put(await client.call("session.update", { session_id, title: title.trim() }));
      onClose();
    } catch (problem) {
      setError(sayFault(problem));
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isBusy) void rename();
  };
  return (
    <Dialog title="Rename the session" onClose={onClose}>
      <form className={css.form} onSubmit={submit}>
        <Field label="Title" error={error} hint="Left empty, it is called by what it runs.">
          {(control) => (
            <input
              {...control}
              value={title}
              maxLength={limits.title_chars}
              onChange={(event) => setTitle(event.target.value)}
              onFocus={(event) => event.target.select()}
            />
          )}
        </Field>
        <div className={css.buttons}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" disabled={isBusy}>
            Rename
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
