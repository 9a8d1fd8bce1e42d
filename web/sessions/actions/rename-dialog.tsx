import { type FormEvent, useState } from "react";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import { useApp } from "#web/app/context.ts";
import { placeFault } from "#web/sessions/start/fault-place.ts";
import type { Problems } from "#web/sessions/start/start-input.ts";
import { Button } from "#web/ui/button.tsx";
import { Dialog } from "#web/ui/dialog.tsx";
import { Field } from "#web/ui/field.tsx";
import css from "./dialogs.module.css";
import { changeNames } from "./rename-input.ts";

interface RenameDialogProps {
  readonly session: Session;
  readonly onClose: () => void;
}

export function RenameDialog({ session, onClose }: RenameDialogProps) {
  const { client, sessions } = useApp();
  const [typed, setTyped] = useState({ name: session.name ?? "", title: session.title });
  const [problems, setProblems] = useState<Problems>({});
  const [isBusy, setBusy] = useState(false);
  const rename = async () => {
    const changes = changeNames(session, typed);
    if (changes === undefined) return onClose();
    setBusy(true);
    try {
      const { session_id } = session;
      sessions.put(await client.call("session.update", { session_id, ...changes }));
      onClose();
    } catch (error) {
      setProblems(placeFault(error, ["name", "title"]));
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
        <Field
          label="Name"
          error={problems.name}
          hint="Short and unique, for commands such as reins attach NAME. Leave it empty for no name."
        >
          {(control) => (
            <input
              {...control}
              value={typed.name}
              autoCapitalize="none"
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setTyped({ ...typed, name: event.target.value })}
              onFocus={(event) => event.target.select()}
            />
          )}
        </Field>
        <Field
          label="Title"
          error={problems.title ?? problems.form}
          hint="Leave it empty to show the command."
        >
          {(control) => (
            <input
              {...control}
              value={typed.title}
              maxLength={limits.title_chars}
              onChange={(event) => setTyped({ ...typed, title: event.target.value })}
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
