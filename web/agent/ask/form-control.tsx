import { useId } from "react";
import { Field } from "#web/ui/field.tsx";
import css from "./ask.module.css";
import type { FormField } from "./flat-form.ts";

interface FormControlProps {
  readonly field: FormField;
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (value: string) => void;
}

/** More are a list to choose from. */
const RADIOS_MOST = 6;

export function FormControl(props: FormControlProps) {
  const { field, value, error, onChange } = props;
  const label = field.isRequired ? field.label : `${field.label} (optional)`;
  if (field.kind === "switch") return <Switch {...props} />;
  if (field.kind === "choice" && field.options.length <= RADIOS_MOST) return <Radios {...props} />;
  return (
    <Field label={label} hint={field.hint} error={error}>
      {(control) =>
        field.kind === "choice" ? (
          <select {...control} value={value} onChange={(event) => onChange(event.target.value)}>
            <option value="">Choose…</option>
            {field.options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </select>
        ) : (
          <input
            {...control}
            type={typeOf(field)}
            inputMode={field.kind === "number" ? "decimal" : undefined}
            value={value}
            autoComplete="off"
            onChange={(event) => onChange(event.target.value)}
          />
        )
      }
    </Field>
  );
}

const TYPES: Readonly<Record<string, string>> = { email: "email", uri: "url", date: "date" };

function typeOf(field: FormField): string {
  return field.kind === "text" ? (TYPES[field.format ?? ""] ?? "text") : "text";
}

function Switch({ field, value, onChange }: FormControlProps) {
  const id = useId();
  return (
    <div className={css.choice}>
      <input
        id={id}
        type="checkbox"
        checked={value === "true"}
        onChange={(event) => onChange(event.target.checked ? "true" : "")}
      />
      <label htmlFor={id}>
        {field.label}
        {field.hint === undefined ? null : <small>{field.hint}</small>}
      </label>
    </div>
  );
}

function Radios({ field, value, error, onChange }: FormControlProps) {
  const id = useId();
  if (field.kind !== "choice") return null;
  return (
    <fieldset aria-describedby={error === undefined ? undefined : `${id}-e`}>
      <legend>{field.label}</legend>
      {field.hint === undefined ? null : <small>{field.hint}</small>}
      <div className={css.options}>
        {field.options.map((option) => (
          <label key={option.value} className={css.choice}>
            <input
              type="radio"
              name={id}
              value={option.value}
              checked={option.value === value}
              aria-invalid={error !== undefined}
              onChange={() => onChange(option.value)}
            />
            {option.label}
          </label>
        ))}
      </div>
      {error === undefined ? null : (
        <p id={`${id}-e`} className={css.problem}>
          {error}
        </p>
      )}
    </fieldset>
  );
}
