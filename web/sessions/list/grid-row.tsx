import { memo } from "react";
import type { Glance } from "#contract/operations/session.ts";
import { revealHidden } from "#contract/text/hidden-characters.ts";
import { formatRoute } from "#web/app/router.ts";
import { ActionsMenu } from "#web/sessions/actions/actions-menu.tsx";
import { fullNameOf, iconOf, kindWord, nameOf } from "#web/sessions/session-name.ts";
import { SessionName } from "#web/sessions/session-name-view.tsx";
import type { SessionRow } from "#web/sessions/session-rows.ts";
import { StateBadge } from "#web/sessions/state-badge.tsx";
import { Badge } from "#web/ui/badge.tsx";
import { formatDuration, formatMoment } from "#web/ui/format.ts";
import { Icon } from "#web/ui/icons.tsx";
import { Isolated, Revealed } from "#web/ui/revealed.tsx";
import { FoldButton, indentOf } from "./fold-button.tsx";
import css from "./session-grid.module.css";
import type { GridProps } from "./session-grid.tsx";

interface GridRowProps
  extends Pick<GridProps, "hasAgents" | "mayChange" | "onSelect" | "onFold" | "onDeed"> {
  readonly id: string;
  readonly row: SessionRow;
  readonly index: number;
  readonly top: number;
  readonly glance: Glance | undefined;
  readonly workspace: string | undefined;
  readonly now: number;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly onPoint: (sessionId: string, index: number) => void;
}

/** While the list is scrolled, those that stay are not drawn again. */
export const GridRow = memo(function GridRow(props: GridRowProps) {
  const { row, glance, mayChange, isSelected } = props;
  const { session } = row;
  const name = nameOf(session);
  const line = glance?.line ?? session.last_line;
  return (
    <tr
      id={props.id}
      className={css.row}
      style={{ top: props.top }}
      aria-rowindex={props.index + 2}
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.setSize}
      aria-expanded={row.childCount > 0 ? row.isExpanded : undefined}
      aria-selected={mayChange ? isSelected : undefined}
      data-active={props.isActive}
      data-asking={row.isAsking}
      onPointerDown={() => props.onPoint(session.session_id, props.index)}
    >
      <td className={css.select}>
        {mayChange ? (
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Select ${name}`}
            checked={isSelected}
            onChange={() => props.onSelect(session.session_id)}
          />
        ) : null}
      </td>
      <NameCell row={row} name={name} onFold={props.onFold} />
      <td className={css.state}>
        <StateBadge session={session} />
      </td>
      <Places {...props} />
      <td className={css.line} title={revealHidden(line, "prose")}>
        <Isolated text={line} reading="prose" />
      </td>
      <Age at={session.created_at} now={props.now} />
      <td className={css.more}>
        <ActionsMenu session={session} label={`Menu of ${name}`} onDeed={props.onDeed} isInList />
      </td>
    </tr>
  );
});

interface NameCellProps {
  readonly row: SessionRow;
  readonly name: string;
  readonly onFold: GridProps["onFold"];
}

function NameCell({ row, name, onFold }: NameCellProps) {
  const { session } = row;
  return (
    <td className={css.name} style={{ paddingLeft: indentOf(row) }}>
      <FoldButton row={row} name={name} onFold={onFold} />
      <span className={css.icon}>
        <Icon name={iconOf(session)} size={17} />
        <span className="visually-hidden">{kindWord(session)}</span>
      </span>
      <a
        href={formatRoute({ name: "session", sessionId: session.session_id })}
        tabIndex={-1}
        title={fullNameOf(session)}
      >
        <SessionName session={session} />
      </a>
      {row.isAskingBelow ? <Badge tone="accent">needs you below</Badge> : null}
    </td>
  );
}

function Places({ row, workspace, hasAgents }: GridRowProps) {
  const { work_dir, agent = "", model = "" } = row.session;
  return (
    <>
      {hasAgents ? (
        <td className={css.agent} title={revealHidden(model, "prose")}>
          <Isolated text={agent} reading="prose" />
        </td>
      ) : null}
      {workspace === undefined ? null : (
        <td className={css.workspace} title={revealHidden(workspace, "prose")}>
          <Isolated text={workspace} reading="prose" />
        </td>
      )}
      <td className={css.directory} title={revealHidden(work_dir, "decision")}>
        <bdi dir="ltr">
          <Revealed text={work_dir} reading="decision" />
        </bdi>
      </td>
    </>
  );
}

function Age({ at, now }: { readonly at: string; readonly now: number }) {
  return (
    <td className={css.age}>
      <time dateTime={at} title={formatMoment(at)}>
        {formatDuration(now - Date.parse(at))}
      </time>
    </td>
  );
}
