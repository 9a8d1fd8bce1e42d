import { type ReactNode, useCallback, useEffect } from "react";
import type { CallOptions } from "#client/client.ts";
import type { Health } from "#contract/operations/server.ts";
import { mayDo, useApp } from "#web/app/context.ts";
import { sayFault } from "#web/live/page-client.ts";
import { useStore } from "#web/live/store.ts";
import { useCall } from "#web/live/use-call.ts";
import { Badge } from "#web/ui/badge.tsx";
import { Button } from "#web/ui/button.tsx";
import { formatBytes } from "#web/ui/format.ts";
import { Loading, Notice } from "#web/ui/notice.tsx";
import css from "./admin.module.css";
import { AdminPage } from "./admin-page.tsx";
import { countSessions, type Fact, listHostFacts, STATUS_WORDS } from "./health-words.ts";
import { LimitsTable } from "./limits-table.tsx";

const REFRESH_MS = 10_000;

/** How the server is, asked again while somebody looks. */
export function HealthPage() {
  const { client, identity } = useApp();
  const ask = useCallback(
    (options: CallOptions) => client.call("server.health", {}, options),
    [client],
  );
  const { value: health, error, again } = useCall(ask);
  useWhileVisible(again);
  return (
    <AdminPage
      title="Health"
      lead="How the server is right now. This page asks again every ten seconds while you look at it."
      action={<Button onClick={again}>Refresh</Button>}
    >
      {error === undefined ? null : <Notice tone="bad">{sayFault(error)}</Notice>}
      {health === undefined && error === undefined ? <Loading what="Asking the server" /> : null}
      <div className={css.cards}>
        <SessionsCard />
        {health === undefined ? null : <ServerCards health={health} />}
      </div>
      <p className={css.lead}>
        <a href="./metrics" target="_blank" rel="noopener noreferrer">
          /metrics
        </a>{" "}
        has the same and more as figures for Prometheus; a scraper comes in with a token of its own.
      </p>
      {mayDo(identity, "admin") ? null : (
        <p className={css.lead}>
          As {identity.role} you see no audit log and no tokens; those are for admins.
        </p>
      )}
      <LimitsTable />
    </AdminPage>
  );
}

function useWhileVisible(again: () => void): void {
  useEffect(() => {
    const ask = () => {
      if (!document.hidden) again();
    };
    const timer = window.setInterval(ask, REFRESH_MS);
    document.addEventListener("visibilitychange", ask);
    return () => {
      window.clearInterval(timer);
      document.removeEventListener("visibilitychange", ask);
    };
  }, [again]);
}

function ServerCards({ health }: { readonly health: Health }) {
  const { status, version, store, host, disk } = health;
  const { tone, text } = STATUS_WORDS[status];
  const free = disk?.free_bytes ?? null;
  return (
    <>
      {host === undefined ? (
        <Card title="Parts" facts={[]}>
          How the store, the host and the disk are is told to callers with a token only.
        </Card>
      ) : (
        <Card title="Host" badge={<PartBadge part={host} />} facts={listHostFacts(host)}>
          {host.message}
        </Card>
      )}
      <div className={css.stack}>
        <Card
          title="Server"
          badge={<Badge tone={tone}>{text}</Badge>}
          facts={[{ name: "Version", value: version }]}
        />
        {store === undefined ? null : (
          <Card title="Store" badge={<PartBadge part={store} />} facts={[]}>
            {store.message ?? "Workspaces, tasks, tokens and the audit can be read and written."}
          </Card>
        )}
        {disk === undefined ? null : (
          <Card
            title="Disk"
            badge={<PartBadge part={disk} />}
            facts={[{ name: "Free", value: free === null ? "unknown" : formatBytes(free) }]}
          >
            {disk.message}
          </Card>
        )}
      </div>
    </>
  );
}

function SessionsCard() {
  const { sessions } = useApp();
  const view = useStore(sessions.view);
  const counts = countSessions(view.sessions.values());
  const facts = [
    { name: "Running", value: counts.running },
    { name: "Agents", value: counts.agents },
    { name: "Terminals", value: counts.terminals },
    { name: "Commands", value: counts.commands },
    { name: "Waiting for an answer", value: view.asking.size },
    { name: "Ended", value: counts.ended },
  ];
  return (
    <Card
      title="Sessions that you see"
      facts={facts.map(({ name, value }) => ({ name, value: value.toLocaleString() }))}
    />
  );
}

function PartBadge({ part: { ok } }: { readonly part: { readonly ok: boolean } }) {
  return <Badge tone={ok ? "good" : "bad"}>{ok ? "well" : "not well"}</Badge>;
}

interface CardProps {
  readonly title: string;
  readonly badge?: ReactNode;
  readonly facts: readonly Fact[];
  readonly children?: ReactNode;
}

function Card({ title, badge, facts, children }: CardProps) {
  return (
    <section className={css.card} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {badge}
      </header>
      {facts.length === 0 ? null : (
        <dl>
          {facts.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {children === undefined ? null : <p>{children}</p>}
    </section>
  );
}
