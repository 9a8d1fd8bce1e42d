import { useEffect, useRef, useState } from "react";
import { findTicket } from "#web/app/ticket.ts";
import { Button } from "#web/ui/button.tsx";
import { Field } from "#web/ui/field.tsx";
import { offerFocus } from "#web/ui/focus.ts";
import { Icon } from "#web/ui/icons.tsx";
import { Notice } from "#web/ui/notice.tsx";
import css from "./door.module.css";

/** Before anyone is signed in. */
export function Door({
  why,
  onTicket,
}: {
  readonly why: string | undefined;
  readonly onTicket: (ticket: string) => void;
}) {
  const [text, setText] = useState("");
  const [error, setError] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => offerFocus(input.current), []);
  const submit = () => {
    const ticket = findTicket(text);
    if (ticket === undefined) {
      setError("This is not a ticket. A ticket starts with reins_ticket_.");
      return;
    }
    onTicket(ticket);
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
          You sign in with a ticket, which works once. On the machine that runs Reins, run
        </p>
        <pre className={css.command}>reins open</pre>
        <form
          className={css.form}
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <Field label="Ticket, or the printed address" error={error}>
            {(control) => (
              <input
                {...control}
                ref={input}
                autoComplete="off"
                spellCheck={false}
                value={text}
                onChange={(event) => setText(event.target.value)}
              />
            )}
          </Field>
          <Button type="submit" tone="primary">
            Sign in
          </Button>
        </form>
      </div>
    </main>
  );
}
