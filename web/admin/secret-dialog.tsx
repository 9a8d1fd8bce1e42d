import { useRef, useState } from "react";
import type { Token } from "#contract/token.ts";
import { Button } from "#web/ui/button.tsx";
import { Dialog } from "#web/ui/dialog.tsx";
import { Field } from "#web/ui/field.tsx";
import { Notice } from "#web/ui/notice.tsx";
import css from "./admin.module.css";

interface SecretDialogProps {
  readonly token: Token;
  readonly secret: string;
  readonly onClose: () => void;
}

/** The one time that it is seen: the server keeps a hash. */
export function SecretDialog({ token, secret, onClose }: SecretDialogProps) {
  const field = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState("");
  const copy = async () => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(secret);
      setSaid("Copied.");
    } catch {
      // Pages without https have no clipboard; the text is selected for the person's own keys.
      setSaid("This browser lets no page copy here; it is selected, so copy it by your keys.");
    }
  };
  return (
    <Dialog title="The new token" onClose={onClose}>
      <div className={css.stack}>
        <Notice tone="warn">
          This is the only time that the secret is shown. Whoever has it is {token.user_id} here, as{" "}
          {token.role}: keep it where you keep passwords.
        </Notice>
        <Field label="Secret">
          {(control) => (
            <input
              {...control}
              ref={field}
              className={`${control.className} ${css.mono}`}
              readOnly
              value={secret}
              onFocus={(event) => event.target.select()}
            />
          )}
        </Field>
        <div className={css.buttons}>
          <Button tone="primary" icon="copy" onClick={() => void copy()}>
            Copy
          </Button>
          <Button onClick={onClose}>I have kept it</Button>
        </div>
        <p role="status" className={css.faint}>
          {said}
        </p>
      </div>
    </Dialog>
  );
}
