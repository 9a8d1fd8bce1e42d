import { useState } from "react";
import type { ControlShown, ControlState } from "#web/terminal/control-state.ts";
import type { SessionLink } from "#web/terminal/session-link.ts";
import { Button } from "#web/ui/button.tsx";
import css from "./pipe-bar.module.css";

interface PipeBarProps {
  readonly link: SessionLink;
  readonly state: ControlState;
  readonly shown: ControlShown;
}

const LINE_CHARS = 16 * 1024;

/** A command on pipes: which of them is which, and a line for its input while this page holds the reins. */
export function PipeBar({ link, state, shown }: PipeBarProps) {
  const [line, setLine] = useState("");
  const send = (event: React.FormEvent) => {
    event.preventDefault();
    link.type(`${line}\n`);
    setLine("");
  };
  return (
    <div className={css.bar}>
      <p className={css.legend}>
        On pipes, no terminal. <i className={css.stderr}>Slanted and red</i> is stderr.
      </p>
      {shown.canType && state.connection !== "over" ? (
        <form className={css.form} onSubmit={send}>
          <input
            aria-label="A line for its input"
            placeholder="A line for its input"
            maxLength={LINE_CHARS}
            value={line}
            onChange={(event) => setLine(event.target.value)}
          />
          <Button size="small" type="submit">
            Send
          </Button>
          <Button size="small" onClick={() => link.endInput()}>
            End of input
          </Button>
        </form>
      ) : null}
    </div>
  );
}
