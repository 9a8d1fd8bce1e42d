import { type ReactNode, useState } from "react";
import { createPortal } from "react-dom";
import { OutsideLink } from "#web/ui/button.tsx";
import { Dialog } from "#web/ui/dialog.tsx";
import { Isolated } from "#web/ui/revealed.tsx";
import { CopyButton } from "./copy-button.tsx";
import css from "./markdown.module.css";
import { isPlain, safeAddress } from "./safe-address.ts";

interface LinkProps {
  readonly address: string;
  readonly text: string;
  readonly children: ReactNode;
}

/** A link of a text from outside: it is followed only by who has seen where it leads. */
export function Link({ address, text, children }: LinkProps) {
  const [isShown, setShown] = useState(false);
  const safe = safeAddress(address);
  if (safe === undefined)
    return (
      <span>
        {children}
        {address === text ? null : (
          <code className={css.address}>
            <Isolated text={address} reading="decision" />
          </code>
        )}
      </span>
    );
  if (isPlain(text, safe))
    return (
      <a href={safe} target="_blank" rel="noopener noreferrer">
        {safe}
      </a>
    );
  return (
    <>
      <button type="button" className={css.link} title={safe} onClick={() => setShown(true)}>
        {children}
      </button>
      {isShown
        ? createPortal(<Look address={safe} onClose={() => setShown(false)} />, document.body)
        : null}
    </>
  );
}

function Look({ address, onClose }: { readonly address: string; readonly onClose: () => void }) {
  return (
    <Dialog title="This link leads to" onClose={onClose}>
      <p className={css.lookAddress}>{address}</p>
      <div className={css.lookButtons}>
        <CopyButton text={address} label="Copy the address" />
        <OutsideLink href={address} onClick={onClose}>
          Open it in a new tab
        </OutsideLink>
      </div>
    </Dialog>
  );
}
