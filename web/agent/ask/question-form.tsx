import { type FormEvent, useId, useMemo, useRef, useState } from "react";
import type { ElicitationAction } from "#contract/agent/events.ts";
import type { PendingElicitation } from "#contract/agent/views.ts";
import { useAgent } from "#web/agent/agent-context.ts";

import { useApp } from "#web/app/context.ts";
import { Button } from "#web/ui/button.tsx";
import { Icon } from "#web/ui/icons.tsx";
import css from "./ask.module.css";
import { fieldsOf, firstValues, readForm } from "./flat-form.ts";
import { FormControl } from "./form-control.tsx";
import { useAnswer } from "./use-answer.ts";

/** A question with a form for its answer. */
export function QuestionForm({ question }: { readonly question: PendingElicitation }) {
  const { client } = useApp();
  const { session, mayAct } = useAgent();
  const answering = useAnswer();
  const titleId = useId();
  const form = useRef<HTMLFormElement>(null);
  const { elicitation_id, message, schema, agent = "The agent" } = question;
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const [values, setValues] = useState(() => firstValues(schema));
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const send = (action: ElicitationAction, content?: ReturnType<typeof readForm>["content"]) =>
    void answering.run(() =>
      client.call("agent.elicitation", {
        ...{ session_id: session.session_id, elicitation_id, action },
        ...(content === undefined ? {} : { content }),
      }),
    );
  const accept = (event: FormEvent) => {
    event.preventDefault();
    const read = readForm(fields, values);
    setErrors(read.errors);
    if (Object.keys(read.errors).length === 0) send("accept", read.content);
    // Behind the next drawing, when the fields are marked.
    else setTimeout(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
  };
  return (
    <form ref={form} className={css.form} aria-labelledby={titleId} noValidate onSubmit={accept}>
      <h2 id={titleId}>
        <Icon name="question" /> {agent} asks
      </h2>
      <p className={css.message}>{message}</p>
      <fieldset className={css.fields} disabled={!mayAct || answering.isBusy}>
        {fields.map((field) => (
          <FormControl
            key={field.name}
            field={field}
            value={values[field.name] ?? ""}
            error={errors[field.name]}
            onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
          />
        ))}
        {mayAct ? (
          <div className={css.buttons}>
            <Button type="submit" tone="primary">
              Accept
            </Button>
            <Button onClick={() => send("decline")}>Decline</Button>
            <Button tone="quiet" onClick={() => send("cancel")}>
              Cancel
            </Button>
          </div>
        ) : (
          <p className={css.message}>Somebody with the role operator has to answer this.</p>
        )}
      </fieldset>
      {answering.problem === undefined ? null : (
        <p className={css.problem} role="alert">
          {answering.problem}
        </p>
      )}
    </form>
  );
}
