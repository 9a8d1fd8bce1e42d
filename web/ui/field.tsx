import { type ReactNode, useId } from "react";
import css from "./field.module.css";

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What is wrong with what was given. */
  readonly error?: string | undefined;
  readonly children: (control: {
    readonly id: string;
    readonly className: string;
    readonly "aria-describedby": string | undefined;
    readonly "aria-invalid": boolean;
  }) => ReactNode;
}

/** A control with its label, and what helps or is wrong said where a screen reader finds it. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const noteId = `${id}-note`;
  const hasNote = hint !== undefined || error !== undefined;
  return (
    <div className={css.field}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        className: css.control ?? "",
        "aria-describedby": hasNote ? noteId : undefined,
        "aria-invalid": error !== undefined,
      })}
      {hasNote ? (
        <p id={noteId} className={error === undefined ? css.hint : css.error}>
          {error ?? hint}
        </p>
      ) : null}
    </div>
  );
}
