import { useCallback, useState } from "react";
import type { CallOptions } from "#client/client.ts";
import { useApp } from "#web/app/context.ts";
import { sayFault } from "#web/live/page-client.ts";
import { useCall } from "#web/live/use-call.ts";
import { Field } from "#web/ui/field.tsx";
import { Notice } from "#web/ui/notice.tsx";
import css from "./admin.module.css";
import { formatLimit, nameLimit } from "./health-words.ts";
import table from "./limits-table.module.css";

/** Every bound that a caller can meet. */
export function LimitsTable() {
  const { client } = useApp();
  const [wanted, setWanted] = useState("");
  const ask = useCallback(
    (options: CallOptions) => client.call("server.limits", {}, options),
    [client],
  );
  const { value, error } = useCall(ask);
  const words = wanted.trim().toLowerCase();
  const rows = Object.entries(value ?? {}).filter(
    ([name]) => nameLimit(name).includes(words) || name.includes(words),
  );
  return (
    <section className={css.stack} aria-label="Limits">
      <h2>Limits</h2>
      {error === undefined ? null : <Notice tone="bad">{sayFault(error)}</Notice>}
      <Field label="Find a limit">
        {(control) => (
          <input
            {...control}
            type="search"
            value={wanted}
            onChange={(event) => setWanted(event.target.value)}
          />
        )}
      </Field>
      {value !== undefined && rows.length === 0 ? <p>No limit is called so.</p> : null}
      <div className={table.limits}>
        <table className={table.pairs}>
          <caption className="visually-hidden">Limits of this server</caption>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">At most</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, limit]) => (
              <tr key={name}>
                <th scope="row" title={name}>
                  {nameLimit(name)}
                </th>
                <td title={String(limit)}>{formatLimit(name, limit)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
