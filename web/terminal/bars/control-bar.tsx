import { useEffect } from "react";
import {
  type ControlShown,
  type ControlState,
  sayTaken,
  type Watcher,
} from "#web/terminal/control-state.ts";
import type { SessionLink } from "#web/terminal/session-link.ts";
import { Button, IconButton } from "#web/ui/button.tsx";
import { Icon } from "#web/ui/icons.tsx";
import css from "./control-bar.module.css";

const BACK_SHOWN_MS = 4000;
const HINT_SHOWN_MS = 8000;

interface ControlProps {
  readonly link: SessionLink;
  readonly state: ControlState;
  readonly shown: ControlShown;
}

/** Who holds the reins, and the button that changes it. */
export function ControlActions({ link, shown }: Omit<ControlProps, "state">) {
  const { action, says, canType } = shown;
  if (says === "") return null;
  return (
    <>
      <span className={css.says} data-held={canType} aria-live="polite">
        <Icon name="reins" size={15} />
        <span>{says}</span>
      </span>
      {action === "take" ? (
        <Button tone="primary" size="small" onClick={() => void link.take()}>
          Take control
        </Button>
      ) : null}
      {action === "release" ? (
        <Button size="small" onClick={() => void link.release()}>
          Release control
        </Button>
      ) : null}
    </>
  );
}

interface NoticesProps extends ControlProps {
  readonly watcher: Watcher;
}

/** What has just happened to the connection or to the reins. */
export function ControlNotices({ link, state, shown, watcher }: NoticesProps) {
  const { connection, takenBy, isBack, hint } = state;
  useLater(isBack, BACK_SHOWN_MS, () => link.dismiss("back"));
  useLater(hint === "shown", HINT_SHOWN_MS, () => link.dismiss("hint"));
  return (
    <div className={css.notices}>
      <div role="alert">
        {takenBy === undefined ? null : (
          <div className={css.taken}>
            <span>
              <strong>{sayTaken(takenBy, watcher)}.</strong> This window is now view only.
            </span>
            {shown.action === "take" ? (
              <Button size="small" tone="primary" onClick={() => void link.take()}>
                Take control
              </Button>
            ) : null}
            <IconButton icon="close" label="Dismiss" onClick={() => link.dismiss("taken")} />
          </div>
        )}
      </div>
      <div role="status">
        {connection === "lost" ? <p className={css.lost}>Connection lost, trying again…</p> : null}
        {isBack ? <p className={css.back}>Back, nothing was missed</p> : null}
        {hint === "shown" ? (
          <p className={css.hint}>
            {watcher.mayControl
              ? "View only; take control to type"
              : "View only; your role may not type"}
          </p>
        ) : null}
      </div>
    </div>
  );
}

function useLater(isShown: boolean, ms: number, run: () => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is run is the same thing each time.
  useEffect(() => {
    if (!isShown) return undefined;
    const timer = window.setTimeout(run, ms);
    return () => window.clearTimeout(timer);
  }, [isShown, ms]);
}
