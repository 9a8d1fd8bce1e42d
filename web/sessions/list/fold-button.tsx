import type { SessionRow } from "#web/sessions/session-rows.ts";
import { Icon } from "#web/ui/icons.tsx";
import css from "./fold-button.module.css";

interface FoldButtonProps {
  readonly row: SessionRow;
  readonly name: string;
  readonly onFold: (sessionId: string, isFolded: boolean) => void;
}

/** Shows and hides the children; the keys have the arrows for it. */
export function FoldButton({ row, name, onFold }: FoldButtonProps) {
  if (row.childCount === 0) return null;
  return (
    <button
      type="button"
      className={css.fold}
      tabIndex={-1}
      aria-label={`${row.isExpanded ? "Hide" : "Show"} ${row.childCount} below ${name}`}
      aria-expanded={row.isExpanded}
      onClick={() => onFold(row.session.session_id, row.isExpanded)}
    >
      <Icon name={row.isExpanded ? "down" : "right"} size={14} />
    </button>
  );
}

const INDENT_PX = 22;
/** Deeper ones stand where these do: a name needs its room. */
const INDENTS_MOST = 5;

export function indentOf({ level }: Pick<SessionRow, "level">): number {
  return Math.min(level - 1, INDENTS_MOST) * INDENT_PX;
}
