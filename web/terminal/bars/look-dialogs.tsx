import { useState } from "react";
import { hasName } from "#web/terminal/addresses.ts";
import { countLines, PREVIEW_CHARS } from "#web/terminal/pasting.ts";
import type { Look, TerminalRoom } from "#web/terminal/terminal-room.ts";
import { Button, OutsideLink } from "#web/ui/button.tsx";
import { Dialog } from "#web/ui/dialog.tsx";
import { Notice } from "#web/ui/notice.tsx";
import { HiddenWarning, Revealed } from "#web/ui/revealed.tsx";
import css from "./look-dialogs.module.css";

/** What wants a look before it happens. */
export function LookDialogs({ room, look }: { readonly room: TerminalRoom; readonly look: Look }) {
  const close = () => {
    room.look.set(undefined);
    room.focus();
  };
  return look.kind === "link" ? (
    <LinkLook address={look.address} onClose={close} />
  ) : (
    <PasteLook
      text={look.text}
      onClose={close}
      onPaste={() => {
        room.look.set(undefined);
        room.insertNow(look.text);
      }}
    />
  );
}

function LinkLook({ address, onClose }: { readonly address: URL; readonly onClose: () => void }) {
  return (
    <Dialog title="Open this link?" onClose={onClose}>
      <div className={css.look}>
        <p>
          A program printed it. It leads to <strong>{address.host}</strong>:
        </p>
        <code className={css.address}>{address.href}</code>
        {hasName(address) ? (
          <Notice tone="warn">
            What stands before the @ is a name, and not where the link leads.
          </Notice>
        ) : null}
        <div className={css.actions}>
          <Button onClick={onClose}>Stay here</Button>
          <OutsideLink href={address.href} onClick={onClose}>
            Open in a new tab
          </OutsideLink>
        </div>
      </div>
    </Dialog>
  );
}

interface PasteLookProps {
  readonly text: string;
  readonly onClose: () => void;
  readonly onPaste: () => void;
}

function PasteLook({ text, onClose, onPaste }: PasteLookProps) {
  const [isWhole, setWhole] = useState(text.length <= PREVIEW_CHARS);
  return (
    <Dialog title={`Paste ${countLines(text)} lines?`} onClose={onClose} wide>
      <div className={css.look}>
        <p>
          The program does not know a paste from typing: each line is run as soon as it is there.
        </p>
        <HiddenWarning value={text} />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it. */}
        <pre tabIndex={0} dir="ltr" className={css.preview}>
          <Revealed text={isWhole ? text : text.slice(0, PREVIEW_CHARS)} reading="decision" />
        </pre>
        {isWhole ? null : (
          <Button size="small" onClick={() => setWhole(true)}>
            Show all ({(text.length - PREVIEW_CHARS).toLocaleString("en-US")} more characters)
          </Button>
        )}
        <div className={css.actions}>
          <Button onClick={onClose}>Do not paste</Button>
          <Button tone="primary" onClick={onPaste}>
            Paste them
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
