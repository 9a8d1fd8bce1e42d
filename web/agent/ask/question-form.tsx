import { type FormEvent, useId, useMemo, useRef, useState } from "react";
import type { ElicitationAction } from "#contract/agent/events.ts";
import type { PendingElicitation } from "#contract/agent/views.ts";
import { useAgent } from "#web/agent/agent-context.ts";

import { useApp } from "#web/app/context.ts";
import { Button } from "#web/ui/button.tsx";
import { Icon } from "#web/ui/icons.tsx";
import { HiddenWarning, Isolated, Revealed } from "#web/ui/revealed.tsx";
import css from "./ask.module.css";
import { fieldsOf, firstValues, type ReadForm, readForm } from "./flat-form.ts";
import { FormControl } from "./form-control.tsx";
import { useAnswer } from "./use-answer.ts";

interface QuestionFormProps {
  readonly question: PendingElicitation;
  readonly onAnswered: () => void;
}

/** A question with a form for its answer. */
export function QuestionForm({ question, onAnswered }: QuestionFormProps) {
  const { client } = useApp();
  const { session, mayAct } = useAgent();
  const answering = useAnswer();
  const titleId = useId();
  const form = useRef<HTMLFormElement>(null);
  const { elicitation_id, message, schema, agent = "The agent" } = question;
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const [values, setValues] = useState(() => firstValues(schema));
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const answer = async (action: ElicitationAction, content?: ReadForm["content"]) => {
    const given = { session_id: session.session_id, elicitation_id, action };
    const sent = content === undefined ? given : { ...given, content };
    if (await answering.run(() => client.call("agent.elicitation", sent))) onAnswered();
  };
  const send = (...given: Parameters<typeof answer>) => void answer(...given);
  const accept = (event: FormEvent) => {
    event.preventDefault();
    const read = readForm(fields, values);
    setErrors(read.errors);
    if (Object.keys(read.errors).length === 0) send("accept", read.content);
    // After the next drawing, when the fields are marked.
    else setTimeout(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
  };
  return (
    <form ref={form} className={css.form} aria-labelledby={titleId} noValidate onSubmit={accept}>
      <h2 id={titleId}>
        <Icon name="question" />
        <span>
          <Isolated text={agent} reading="decision" /> asks
        </span>
      </h2>
      <HiddenWarning value={[message, schema]} />
      <p className={css.message} dir="auto">
        <Revealed text={message} reading="decision" />
      </p>
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
        <div className={css.row}>
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
            <p className={css.message}>Only an operator can answer this.</p>
          )}
        </div>
      </fieldset>
      {answering.problem === undefined ? null : (
        <p className={css.problem} role="alert">
          {answering.problem}
        </p>
      )}
    </form>
  );
}
