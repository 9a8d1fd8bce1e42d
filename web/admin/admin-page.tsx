import type { ReactNode } from "react";
import { sayFault } from "#web/live/page-client.ts";
import { Button } from "#web/ui/button.tsx";
import { Loading, Notice } from "#web/ui/notice.tsx";
import css from "./admin.module.css";
import { ROWS_KEPT } from "./pages.ts";
import type { Paged } from "./use-pages.ts";

interface AdminPageProps {
  readonly title: string;
  readonly lead: ReactNode;
  /** Beside the title. */
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

export function AdminPage({ title, lead, action, children }: AdminPageProps) {
  return (
    <div className={css.page}>
      <header className={css.head}>
        <div>
          <h1>{title}</h1>
          <p className={css.lead}>{lead}</p>
        </div>
        {action}
      </header>
      {children}
    </div>
  );
}

/** Below a list: the way on, what went wrong, or that this is all. */
export function ListEnd<T>({ pages, what }: { readonly pages: Paged<T>; readonly what: string }) {
  const { rows, cursor, error, isBusy, isFull, more, again } = pages;
  if (error !== undefined)
    return (
      <div className={css.end}>
        <Notice tone="bad">{sayFault(error)}</Notice>
        <Button onClick={rows.length === 0 ? again : more}>Try again</Button>
      </div>
    );
  if (isBusy) return <Loading what={`Reading ${what}`} />;
  if (cursor !== undefined)
    return (
      <div className={css.end}>
        <Button onClick={more}>Show more</Button>
      </div>
    );
  if (isFull)
    return (
      <p className={css.end}>
        These are the newest {ROWS_KEPT.toLocaleString()}; a filter finds older ones.
      </p>
    );
  return rows.length === 0 ? null : <p className={css.end}>That is all.</p>;
}
