import { type KeyboardEvent, useCallback, useId, useMemo, useRef, useState } from "react";
import type { Session } from "#contract/session.ts";
import { navigate } from "#web/app/router.ts";
import type { SessionDeed } from "#web/sessions/actions/session-items.ts";
import type { SessionRow } from "#web/sessions/session-rows.ts";
import { useNow } from "#web/ui/use-now.ts";
import { findParent, type KeyDeed, readKey } from "./grid-keys.ts";
import { GridRow } from "./grid-row.tsx";
import css from "./session-grid.module.css";
import { useGlances } from "./use-glances.ts";
import { type ShownRows, useNarrow, useViewport } from "./use-viewport.ts";
import { moveRow } from "./windowing.ts";

const ROW_PX = 46;
const CARD_PX = 72;
const HEAD_PX = 34;
const AGES_MS = 10_000;

export interface GridProps {
  readonly rows: readonly SessionRow[];
  /** By id; undefined where there is only one, which needs no column. */
  readonly workspaces: ReadonlyMap<string, string> | undefined;
  readonly hasAgents: boolean;
  readonly mayChange: boolean;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (sessionId: string) => void;
  readonly onFold: (sessionId: string, isFolded: boolean) => void;
  readonly onDeed: (session: Session, deed: SessionDeed) => void;
}

/**
 * However many there are, only those in view are drawn. It is one stop for the Tab key: the row that the keys speak of is
 * the active descendant, which stays what it is while rows come and go around it.
 */
export function SessionGrid(props: GridProps) {
  const { rows, workspaces, hasAgents, mayChange, selected } = props;
  const grid = useRef<HTMLTableElement>(null);
  const id = useId();
  const isNarrow = useNarrow();
  const rowHeight = isNarrow ? CARD_PX : ROW_PX;
  const shape = { rowCount: rows.length, rowHeight, headHeight: isNarrow ? 0 : HEAD_PX };
  const shown = useViewport(grid, shape);
  const { drawn, visible } = shown;
  const glances = useGlances(rows.slice(visible.first, visible.end).map(({ session }) => session));
  const now = useNow(AGES_MS);
  const hasTree = useMemo(() => rows.some(({ childCount }) => childCount > 0), [rows]);
  const active = useActiveRow(rows, shown);
  const onKeyDown = (event: KeyboardEvent<HTMLTableElement>) => {
    const isInside = event.target !== event.currentTarget;
    const deed = readKey(event, { isInside, row: rows[active.index], mayChange });
    if (deed === undefined) return;
    event.preventDefault();
    followKey(deed, props, active);
    if (deed.kind === "menu") clickMenu(`${id}-${active.index}`);
  };
  return (
    <table
      ref={grid}
      className={css.grid}
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table whose rows can be chosen by keys is one.
      role="treegrid"
      tabIndex={0}
      aria-label="Sessions"
      aria-rowcount={rows.length + 1}
      aria-multiselectable={mayChange}
      aria-activedescendant={active.isDrawn ? `${id}-${active.index}` : undefined}
      aria-keyshortcuts="ArrowUp ArrowDown Enter Space F2 Delete Shift+F10"
      data-agents={hasAgents}
      data-tree={hasTree}
      data-workspaces={workspaces !== undefined}
      data-narrow={isNarrow}
      onKeyDown={onKeyDown}
    >
      <GridHead hasAgents={hasAgents} hasWorkspaces={workspaces !== undefined} />
      <tbody className={css.rows} style={{ height: rows.length * rowHeight }}>
        {rows.slice(drawn.first, drawn.end).map((row, offset) => {
          const index = drawn.first + offset;
          const { session_id, workspace_id } = row.session;
          return (
            <GridRow
              key={session_id}
              id={`${id}-${index}`}
              row={row}
              index={index}
              top={index * rowHeight}
              glance={glances.get(session_id)}
              workspace={workspaces?.get(workspace_id) ?? (workspaces && workspace_id)}
              hasAgents={hasAgents}
              mayChange={mayChange}
              now={now}
              isActive={index === active.index}
              isSelected={selected.has(session_id)}
              onSelect={props.onSelect}
              onFold={props.onFold}
              onDeed={props.onDeed}
              onPoint={active.point}
            />
          );
        })}
      </tbody>
    </table>
  );
}

interface ActiveRow {
  readonly index: number;
  readonly isDrawn: boolean;
  readonly point: (sessionId: string, index: number) => void;
  readonly move: (key: string) => void;
  readonly moveToParent: () => void;
}

/** It is remembered by its id, so that it stays the same one in another order; and by its place for when it goes away. */
function useActiveRow(rows: readonly SessionRow[], shown: ShownRows): ActiveRow {
  const [active, setActive] = useState<{ readonly id: string; readonly index: number }>();
  const point = useCallback((id: string, at: number) => setActive({ id, index: at }), []);
  const { drawn, viewport, show } = shown;
  const found = rows.findIndex(({ session }) => session.session_id === active?.id);
  const index = found >= 0 ? found : Math.min(active?.index ?? -1, rows.length - 1);
  const go = (next: number | undefined) => {
    const row = next === undefined ? undefined : rows[next];
    if (next === undefined || row === undefined) return;
    setActive({ id: row.session.session_id, index: next });
    show(next);
  };
  return {
    index,
    isDrawn: index >= drawn.first && index < drawn.end,
    point,
    move: (key) => go(moveRow(key, index, viewport)),
    moveToParent: () => go(findParent(rows, index)),
  };
}

function followKey(deed: KeyDeed, props: GridProps, active: ActiveRow): void {
  const session = props.rows[active.index]?.session;
  if (deed.kind === "move") active.move(deed.key);
  else if (deed.kind === "parent") active.moveToParent();
  else if (session !== undefined) changeBy(deed, session, props);
}

function changeBy(deed: KeyDeed, session: Session, { onSelect, onFold, onDeed }: GridProps): void {
  const { session_id } = session;
  if (deed.kind === "open") navigate({ name: "session", sessionId: session_id });
  if (deed.kind === "select") onSelect(session_id);
  if (deed.kind === "fold") onFold(session_id, deed.isFolded);
  if (deed.kind === "rename") onDeed(session, { kind: "rename" });
  if (deed.kind === "end") onDeed(session, { kind: deed.how });
}

/** The menu belongs to its button, and opens beside it. */
function clickMenu(rowId: string): void {
  document.getElementById(rowId)?.querySelector<HTMLElement>("[aria-haspopup=menu]")?.click();
}

function GridHead({ hasAgents, hasWorkspaces }: Record<"hasAgents" | "hasWorkspaces", boolean>) {
  return (
    <thead className={css.top}>
      <tr className={css.head} aria-rowindex={1}>
        <th scope="col">
          <span className="visually-hidden">Selected</span>
        </th>
        <th scope="col">Session</th>
        <th scope="col">State</th>
        {hasAgents ? <th scope="col">Agent</th> : null}
        {hasWorkspaces ? <th scope="col">Workspace</th> : null}
        <th scope="col">Directory</th>
        <th scope="col">Last line</th>
        <th scope="col">Age</th>
        <th scope="col">
          <span className="visually-hidden">Actions</span>
        </th>
      </tr>
    </thead>
  );
}
