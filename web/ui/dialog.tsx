import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { IconButton } from "./button.tsx";
import css from "./dialog.module.css";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly wide?: boolean;
}

/** The browser's own modal dialog: it keeps the focus inside and gives it back, and Escape closes it. */
export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const titleId = useId();
  // Before it leaves the page: a dialog that is gone gives the focus back to nobody.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    focusFirst(body.current);
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={`${css.dialog} ${wide ? css.wide : ""}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header className={css.header}>
        <h2 id={titleId}>{title}</h2>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </header>
      <div ref={body} className={css.body} tabIndex={-1}>
        {children}
      </div>
    </dialog>
  );
}

/** Fields first, then what does no harm when it is pressed by mistake. */
const FIRST = [
  "input:enabled, select:enabled, textarea:enabled",
  "a[href], button:enabled:not([data-tone=danger])",
];

/** Focuses a control in the body, not the close button; the body itself where it has no control. */
function focusFirst(body: HTMLElement | null): void {
  const control = FIRST.map((kind) => body?.querySelector<HTMLElement>(kind)).find(Boolean);
  (control ?? body)?.focus();
}
