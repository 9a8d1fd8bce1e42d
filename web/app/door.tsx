import { useState } from "react";
import { Button } from "#web/ui/button.tsx";
import { Field } from "#web/ui/field.tsx";
import { Icon } from "#web/ui/icons.tsx";
import { Notice } from "#web/ui/notice.tsx";
import css from "./door.module.css";
import { findTicket } from "./ticket.ts";

/** Before anybody is let in. */
export function Door({
  why,
  onTicket,
}: {
  readonly why: string | undefined;
  readonly onTicket: () => void;
}) {
  const [text, setText] = useState("");
  const [error, setError] = useState<string>();
  const submit = () => {
    const ticket = findTicket(text);
    if (ticket === undefined) {
      setError("This is no ticket; one begins with reins_ticket_.");
      return;
    }
    window.history.replaceState(null, "", `#ticket=${ticket}`);
    onTicket();
  };
  return (
    <main className={css.door}>
      <div className={css.card}>
        <span className={css.emblem}>
          <Icon name="reins" size={34} />
        </span>
        <h1>Reins</h1>
        <p>Agents and terminals that you can always get back to.</p>
        {why === undefined ? null : <Notice tone="warn">{why}</Notice>}
        <p className={css.how}>
          This page opens with a ticket, which works once. On the machine where Reins runs, say
        </p>
        <pre className={css.command}>reins open</pre>
        <form
          className={css.form}
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <Field label="Ticket, or the address that was printed" error={error}>
            {(control) => (
              <input
                {...control}
                autoComplete="off"
                spellCheck={false}
                value={text}
                onChange={(event) => setText(event.target.value)}
              />
            )}
          </Field>
          <Button type="submit" tone="primary">
            Come in
          </Button>
        </form>
      </div>
    </main>
  );
}
