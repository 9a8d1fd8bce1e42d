import { type FormEvent, type ReactNode, useEffect, useRef } from "react";
import { limits } from "#contract/limits.ts";
import { revealHidden } from "#contract/text/hidden-characters.ts";
import { Button } from "#web/ui/button.tsx";
import { Field } from "#web/ui/field.tsx";
import { offerFocus } from "#web/ui/focus.ts";
import { Notice } from "#web/ui/notice.tsx";
import { Isolated } from "#web/ui/revealed.tsx";
import css from "./form-parts.module.css";
import type { Workplace } from "./use-workplace.ts";

interface StartFormProps {
  readonly label: string;
  readonly button: string;
  readonly isBusy: boolean;
  readonly problem: ReactNode;
  readonly onSubmit: (event: FormEvent) => void;
  readonly children: ReactNode;
}

export function StartForm(props: StartFormProps) {
  const { label, button, isBusy, problem, onSubmit, children } = props;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => offerFocus(findFirst(form.current)), []);
  return (
    <form ref={form} className={css.form} aria-label={label} onSubmit={onSubmit} noValidate>
      {children}
      {problem ? <Notice tone="bad">{problem}</Notice> : null}
      <div className={css.buttons}>
        <Button type="submit" tone="primary" disabled={isBusy}>
          {isBusy ? "Starting…" : button}
        </Button>
      </div>
    </form>
  );
}

/** The field that a person fills in first: the message to an agent, else the first one. */
function findFirst(form: HTMLFormElement | null): HTMLElement | null | undefined {
  return form?.querySelector("textarea") ?? form?.querySelector("input:not([type=radio]), select");
}

interface TextFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
}

export function TitleField({ value, onChange, error }: TextFieldProps) {
  return (
    <Field label="Title (optional)" error={error}>
      {(control) => (
        <input
          {...control}
          value={value}
          maxLength={limits.title_chars}
          placeholder="How the list calls it"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

interface WorkspaceFieldProps {
  readonly workplace: Workplace;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  readonly error: string | undefined;
}

/** Only for those who have a choice. */
export function WorkspaceField({ workplace, value, onChange, error }: WorkspaceFieldProps) {
  if (workplace.workspaces.length < 2) return null;
  return (
    <Field label="Workspace" error={error}>
      {(control) => (
        <select
          {...control}
          value={value ?? ""}
          onChange={(event) => onChange(event.target.value || undefined)}
        >
          <option value="">Your own</option>
          {workplace.workspaces.map(({ workspace_id, name }) => (
            <option key={workspace_id} value={workspace_id}>
              {revealHidden(name, "prose")}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface RadioCardProps {
  readonly name: string;
  readonly label: string;
  readonly note: ReactNode;
  readonly badge?: ReactNode;
  readonly isChecked: boolean;
  readonly onChoose: () => void;
}

export function RadioCard(props: RadioCardProps) {
  const { name, label, note, badge, isChecked, onChoose } = props;
  return (
    <label className={css.card} data-checked={isChecked}>
      <input type="radio" name={name} checked={isChecked} onChange={onChoose} />
      <span className={css.words}>
        <span className={css.title}>
          <Isolated text={label} reading="prose" /> {badge}
        </span>
        <span className={css.note}>{note}</span>
      </span>
    </label>
  );
}
