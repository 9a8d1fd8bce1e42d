import { isLive, isResumable } from "#contract/ended.ts";
import type { Session } from "#contract/session.ts";
import { Button } from "#web/ui/button.tsx";
import css from "./selection-bar.module.css";
import type { Selected } from "./use-marks.ts";

interface SelectionBarProps {
  readonly selected: Selected;
  readonly onEnd: (kind: "close" | "remove", sessions: readonly Session[]) => void;
  readonly onClear: () => void;
}

/** What can be done with several at once. */
export function SelectionBar({ selected: { sessions }, onEnd, onClear }: SelectionBarProps) {
  const live = sessions.filter(isLive);
  // An agent that a message would wake is not offered with the others.
  const ended = sessions.filter((session) => !isLive(session) && !isResumable(session));
  return (
    <div role="status" aria-live="polite">
      {sessions.length === 0 ? null : (
        <div className={css.bar}>
          <b>{sessions.length} selected</b>
          {live.length === 0 ? null : (
            <Button size="small" tone="danger" onClick={() => onEnd("close", live)}>
              Close {live.length} running
            </Button>
          )}
          {ended.length === 0 ? null : (
            <Button size="small" tone="danger" onClick={() => onEnd("remove", ended)}>
              Remove {ended.length} ended
            </Button>
          )}
          <Button size="small" tone="quiet" onClick={onClear}>
            Clear selection
          </Button>
        </div>
      )}
    </div>
  );
}
