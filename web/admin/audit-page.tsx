import { Fragment, useCallback, useState } from "react";
import type { CallOptions } from "#client/client.ts";
import type { AuditEntry } from "#contract/operations/audit.ts";
import { defined } from "#contract/values/defined.ts";
import { useApp } from "#web/app/context.ts";
import { formatRoute } from "#web/app/router.ts";
import { Button } from "#web/ui/button.tsx";
import { formatMoment } from "#web/ui/format.ts";
import { Empty } from "#web/ui/notice.tsx";
import { Isolated } from "#web/ui/revealed.tsx";
import css from "./admin.module.css";
import { AdminPage, ListEnd } from "./admin-page.tsx";
import { AuditFilters } from "./audit-filters.tsx";
import {
  type AuditFilter,
  describeFilter,
  isSessionId,
  listDetails,
  NO_FILTER,
  sayAction,
} from "./audit-words.ts";
import { usePages } from "./use-pages.ts";

const PAGE_SIZE = 100;

/** Who did what, the newest first. */
export function AuditPage() {
  const { client, identity } = useApp();
  const [filter, setFilter] = useState<AuditFilter>(NO_FILTER);
  const ask = useCallback(
    async (cursor: string | undefined, options: CallOptions) => {
      // Texts of a person: the server says what is wrong with them.
      const wanted = describeFilter(filter) as { user_id?: string };
      const place = defined({ cursor });
      const input = { ...wanted, ...place, limit: PAGE_SIZE };
      const { entries, cursor: next } = await client.call("audit.list", input, options);
      return { rows: entries, cursor: next };
    },
    [client, filter],
  );
  const pages = usePages(ask);
  const isNothing = pages.rows.length === 0 && !pages.isBusy && pages.error === undefined;
  return (
    <AdminPage
      title="Audit"
      lead={
        identity.workspaces === "*"
          ? "Who did what, the newest first. Of what was typed it has counts, never the keys."
          : "Who did what in your workspaces, the newest first; what happened in others is not yours to see."
      }
      action={<Button onClick={pages.again}>Refresh</Button>}
    >
      <AuditFilters onFilter={setFilter} />
      {isNothing ? (
        <Empty icon="shield" title="Nothing of that kind was done">
          Leave a part of the filter out, or look again later.
        </Empty>
      ) : null}
      {pages.rows.length === 0 ? null : <AuditTable entries={pages.rows} />}
      <ListEnd pages={pages} what="the audit log" />
    </AdminPage>
  );
}

function AuditTable({ entries }: { readonly entries: readonly AuditEntry[] }) {
  return (
    <table className={css.table}>
      <caption className="visually-hidden">Who did what, the newest first</caption>
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Who</th>
          <th scope="col">What</th>
          <th scope="col">To what</th>
          <th scope="col">Details</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <AuditRow key={entry.audit_id} entry={entry} />
        ))}
      </tbody>
    </table>
  );
}

function AuditRow({ entry }: { readonly entry: AuditEntry }) {
  const { at, action, user_id, token_id, target_id } = entry;
  return (
    <tr>
      <td className={css.when}>
        <time dateTime={at}>{formatMoment(at)}</time>
      </td>
      <td className={`${css.strong} ${css.inline}`} title={token_id ?? undefined}>
        <Isolated text={user_id ?? "unknown"} reading="decision" />
      </td>
      <td className={css.inline} title={action}>
        {sayAction(action)}
      </td>
      <td data-label="To">
        {isSessionId(target_id) ? (
          <a href={formatRoute({ name: "session", sessionId: target_id })}>
            <code>{target_id}</code>
          </a>
        ) : (
          <code>
            <Isolated text={target_id ?? ""} reading="decision" />
          </code>
        )}
      </td>
      <td className={css.faint}>
        {listDetails(entry).map((detail, at) => (
          <Fragment key={detail}>
            {at === 0 ? null : " · "}
            <Isolated text={detail} reading="decision" />
          </Fragment>
        ))}
      </td>
    </tr>
  );
}
