import {
  type FocusEvent,
  type KeyboardEvent,
  type RefObject,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Glance } from "#contract/operations/session.ts";
import { useApp } from "#web/app/context.ts";
import { formatRoute } from "#web/app/router.ts";
import { useStore } from "#web/live/store.ts";
import { fullNameOf, iconOf, kindWord, nameOf } from "#web/sessions/session-name.ts";
import { SessionName } from "#web/sessions/session-name-view.tsx";
import { buildRows, type SessionRow } from "#web/sessions/session-rows.ts";
import { describeState } from "#web/sessions/state-words.ts";
import { Icon } from "#web/ui/icons.tsx";
import { Isolated } from "#web/ui/revealed.tsx";
import { SearchBox } from "#web/ui/search-box.tsx";
import { FoldButton, indentOf } from "./fold-button.tsx";
import { everything } from "./list-choice.ts";
import css from "./session-rail.module.css";
import { useGlances } from "./use-glances.ts";
import { useFolded } from "./use-marks.ts";
import { type ShownRows, useViewport } from "./use-viewport.ts";
import { listDrawn, moveRow } from "./windowing.ts";

const ROW_PX = 54;

/** All sessions beside the one that is open; whoever waits for an answer is at the top. */
export function SessionRail({ currentId }: { readonly currentId: string }) {
  const [search, setSearch] = useState("");
  const rows = useRailRows(search);
  return (
    <div className={css.rail}>
      <SearchBox
        className={css.search}
        aria-label="Search in the rail"
        placeholder="Search"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") setSearch("");
        }}
      />
      <RailBody rows={rows} currentId={currentId} isSearched={search.trim() !== ""} />
    </div>
  );
}

interface RailBodyProps extends RailListProps {
  readonly isSearched: boolean;
}

function RailBody({ rows, currentId, isSearched }: RailBodyProps) {
  const { status } = useStore(useApp().sessions.view);
  if (rows.length > 0) return <RailList rows={rows} currentId={currentId} />;
  if (status === "connecting") return <RailSkeleton />;
  return <p className={css.none}>{isSearched ? "No matching sessions" : "No sessions yet"}</p>;
}

const SKELETON_ROWS = 6;

/** Where rows will be, while the list is on its way. */
function RailSkeleton() {
  return (
    <div role="status">
      <span className="visually-hidden">Loading sessions…</span>
      {Array.from({ length: SKELETON_ROWS }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same.
        <div key={at} className={css.skeleton} aria-hidden="true">
          <span />
          <span />
        </div>
      ))}
    </div>
  );
}

function useRailRows(search: string): readonly SessionRow[] {
  const { sessions } = useApp();
  const view = useStore(sessions.view);
  const { folded } = useFolded();
  return useMemo(() => {
    const source = { sessions: view.sessions, asking: view.asking };
    return buildRows(source, {
      choice: { ...everything, search },
      collapsed: folded,
      askingFirst: true,
    });
  }, [view, folded, search]);
}

interface RailListProps {
  readonly rows: readonly SessionRow[];
  readonly currentId: string;
}

function RailList({ rows, currentId }: RailListProps) {
  const list = useRef<HTMLUListElement>(null);
  const shape = { rowCount: rows.length, rowHeight: ROW_PX, headHeight: 0 };
  const shown = useViewport(list, shape);
  const { drawn, visible, show } = shown;
  const glances = useGlances(rows.slice(visible.first, visible.end).map(({ session }) => session));
  const current = rows.findIndex(({ session }) => session.session_id === currentId);
  const isListed = current >= 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is brought into view once, not whenever the order changes.
  useLayoutEffect(() => {
    if (isListed) show(current);
  }, [currentId, isListed]);
  const focus = useRowFocus(list, rows, shown);
  return (
    <ul
      ref={list}
      className={css.list}
      onKeyDown={focus.onKeyDown}
      onFocus={focus.onFocus}
      onBlur={focus.onBlur}
    >
      <li aria-hidden="true" style={{ height: rows.length * ROW_PX }} />
      {listDrawn(drawn, focus.index).map((index) => {
        const row = rows[index];
        if (row === undefined) return null;
        return (
          <RailRow
            key={row.session.session_id}
            row={row}
            index={index}
            count={rows.length}
            glance={glances.get(row.session.session_id)}
            isCurrent={row.session.session_id === currentId}
          />
        );
      })}
    </ul>
  );
}

/** The row with the focus, by its id: it stays drawn however far it is scrolled away, and the keys go on from it. */
function useRowFocus(
  list: RefObject<HTMLUListElement | null>,
  rows: readonly SessionRow[],
  { viewport, show }: ShownRows,
) {
  const [focusedId, setFocusedId] = useState<string>();
  const wanted = useRef<number>(undefined);
  const linkOf = (index: number) =>
    list.current?.querySelector<HTMLElement>(`[data-row="${index}"] a`);
  // The row that the keys lead to may have been drawn only just now.
  useLayoutEffect(() => {
    const link = wanted.current === undefined ? undefined : linkOf(wanted.current);
    if (!link) return;
    wanted.current = undefined;
    link.focus();
  });
  return {
    index: rows.findIndex(({ session }) => session.session_id === focusedId),
    onFocus: (event: FocusEvent<HTMLUListElement>) =>
      setFocusedId(rows[findRowOf(event.target) ?? -1]?.session.session_id),
    onBlur: ({ target, relatedTarget }: FocusEvent<HTMLUListElement>) => {
      // A window that is left comes back to where it was.
      if (relatedTarget === null && document.activeElement === target) return;
      setFocusedId(undefined);
    },
    onKeyDown: (event: KeyboardEvent<HTMLUListElement>) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      const at = findRowOf(event.target);
      const next = at === undefined ? undefined : moveRow(event.key, at, viewport);
      if (next === undefined) return;
      event.preventDefault();
      wanted.current = next;
      show(next);
      linkOf(next)?.focus();
    },
  };
}

function findRowOf(target: EventTarget): number | undefined {
  const row = target instanceof Element ? target.closest("[data-row]") : null;
  return row instanceof HTMLElement ? Number(row.dataset.row) : undefined;
}

interface RailRowProps {
  readonly row: SessionRow;
  readonly index: number;
  readonly count: number;
  readonly glance: Glance | undefined;
  readonly isCurrent: boolean;
}

function RailRow({ row, index, count, glance, isCurrent }: RailRowProps) {
  const { session } = row;
  const line = glance?.line ?? session.last_line;
  const { fold } = useFolded();
  const { tone, text } = describeState(session);
  const name = nameOf(session);
  return (
    <li
      className={css.row}
      data-row={index}
      data-current={isCurrent}
      style={{ top: index * ROW_PX, paddingLeft: 12 + indentOf(row) / 2 }}
      aria-posinset={index + 1}
      aria-setsize={count}
    >
      <a
        href={formatRoute({ name: "session", sessionId: session.session_id })}
        aria-current={isCurrent ? "page" : undefined}
        title={`${fullNameOf(session)}: ${text}`}
      >
        <span className={css.icon}>
          <Icon name={iconOf(session)} size={16} />
          <span className={`${css.dot} ${css[tone]}`} />
        </span>
        <span className={css.words}>
          <span className={css.name}>
            <SessionName session={session} />
          </span>
          <span className="visually-hidden">
            , {kindWord(session)}, {text}
          </span>
          <span className={css.line}>
            <Isolated text={line === "" ? text : line} reading="prose" />
          </span>
        </span>
      </a>
      <FoldButton row={row} name={name} onFold={fold} />
    </li>
  );
}
