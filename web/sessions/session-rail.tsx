import { type KeyboardEvent, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Glance } from "#contract/operations/session.ts";
import { useApp } from "#web/app/context.ts";
import { formatRoute } from "#web/app/router.ts";
import { useStore } from "#web/live/store.ts";
import { Icon } from "#web/ui/icons.tsx";
import { FoldButton, indentOf } from "./list/fold-button.tsx";
import { glancesOf } from "./list/glances.ts";
import { everything } from "./list/list-choice.ts";
import { useGlances } from "./list/use-glances.ts";
import { useFolded } from "./list/use-marks.ts";
import { useViewport } from "./list/use-viewport.ts";
import { iconOf, kindWord, nameOf } from "./session-name.ts";
import css from "./session-rail.module.css";
import { buildRows, type SessionRow } from "./session-rows.ts";
import { describeState } from "./state-words.ts";

const ROW_PX = 54;
const SEARCH_CHARS = 200;

/** All sessions beside the one that is open; whoever waits for an answer is at the top. */
export function SessionRail({ currentId }: { readonly currentId: string }) {
  const [search, setSearch] = useState("");
  const rows = useRailRows(search);
  return (
    <div className={css.rail}>
      <label className={css.search}>
        <Icon name="search" size={15} />
        <input
          type="search"
          aria-label="Search in the rail"
          placeholder="Search"
          value={search}
          maxLength={SEARCH_CHARS}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") setSearch("");
          }}
        />
      </label>
      {rows.length === 0 ? (
        <p className={css.none}>No session is like that.</p>
      ) : (
        <RailList rows={rows} currentId={currentId} />
      )}
    </div>
  );
}

function useRailRows(search: string): readonly SessionRow[] {
  const { client, sessions } = useApp();
  const view = useStore(sessions.view);
  const { folded } = useFolded();
  return useMemo(() => {
    const findAgent = (id: string) => glancesOf(client).view.get().get(id)?.agent;
    const source = { sessions: view.sessions, asking: view.asking, findAgent };
    return buildRows(source, {
      choice: { ...everything, search },
      collapsed: folded,
      askingFirst: true,
    });
  }, [client, view, folded, search]);
}

interface RailListProps {
  readonly rows: readonly SessionRow[];
  readonly currentId: string;
}

function RailList({ rows, currentId }: RailListProps) {
  const list = useRef<HTMLUListElement>(null);
  const shape = { rowCount: rows.length, rowHeight: ROW_PX, headHeight: 0 };
  const { drawn, visible, show } = useViewport(list, shape);
  const glances = useGlances(rows.slice(visible.first, visible.end).map(({ session }) => session));
  const current = rows.findIndex(({ session }) => session.session_id === currentId);
  const isListed = current >= 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is brought into view once, not whenever the order changes.
  useLayoutEffect(() => {
    if (isListed) show(current);
  }, [currentId, isListed]);
  const focused = useRef<number>(undefined);
  // The row that the keys lead to may have been drawn only just now.
  useLayoutEffect(() => {
    if (focused.current === undefined) return;
    const link = list.current?.querySelector<HTMLElement>(`[data-row="${focused.current}"] a`);
    if (!link) return;
    focused.current = undefined;
    link.focus();
  });
  const onKeyDown = (event: KeyboardEvent<HTMLUListElement>) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const at = findRowOf(event.target);
    if (step === 0 || at === undefined || rows[at + step] === undefined) return;
    event.preventDefault();
    focused.current = at + step;
    show(at + step);
    list.current?.querySelector<HTMLElement>(`[data-row="${at + step}"] a`)?.focus();
  };
  return (
    <ul ref={list} className={css.list} onKeyDown={onKeyDown}>
      <li aria-hidden="true" style={{ height: rows.length * ROW_PX }} />
      {rows.slice(drawn.first, drawn.end).map((row, offset) => (
        <RailRow
          key={row.session.session_id}
          row={row}
          index={drawn.first + offset}
          count={rows.length}
          glance={glances.get(row.session.session_id)}
          isCurrent={row.session.session_id === currentId}
        />
      ))}
    </ul>
  );
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
  const { session, isAsking } = row;
  const { fold } = useFolded();
  const { tone, text } = describeState(session, { isAsking, activity: glance?.activity });
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
        title={`${name}: ${text}`}
      >
        <span className={css.icon}>
          <Icon name={iconOf(session)} size={16} />
          <span className={`${css.dot} ${css[tone]}`} />
        </span>
        <span className={css.words}>
          <span className={css.name}>{name}</span>
          <span className="visually-hidden">
            , {kindWord(session)}, {text}
          </span>
          <span className={css.line}>{isAsking ? "needs an answer" : glance?.line || text}</span>
        </span>
      </a>
      <FoldButton row={row} name={name} onFold={fold} />
    </li>
  );
}
