import { lazy, type ReactNode, Suspense, useMemo } from "react";
import { useCommands } from "#web/app/commands.ts";
import { type App, mayDo, useApp } from "#web/app/context.ts";
import { Crash } from "#web/app/crash.tsx";
import { type Route, useRoute } from "#web/app/router.ts";
import { settings } from "#web/live/settings.ts";
import { useStore } from "#web/live/store.ts";
import { Palette } from "#web/palette/palette.tsx";
import { SessionRail } from "#web/sessions/list/session-rail.tsx";
import { SessionsPage } from "#web/sessions/list/sessions-page.tsx";
import { NewSession } from "#web/sessions/start/start-session.tsx";
import { Empty, Loading } from "#web/ui/notice.tsx";
import { ToastList } from "#web/ui/toasts.tsx";
import { Attention } from "./attention.tsx";
import { SessionPage } from "./session-page.tsx";
import css from "./shell.module.css";
import { createShellCommands } from "./shell-commands.ts";
import { TopBar } from "./top-bar.tsx";

const RecordingPage = lazy(async () => {
  const module = await import("#web/recording/recording-page.tsx");
  return { default: module.RecordingPage };
});
const AuditPage = lazy(async () => {
  const module = await import("#web/admin/audit-page.tsx");
  return { default: module.AuditPage };
});
const TokensPage = lazy(async () => {
  const module = await import("#web/admin/tokens-page.tsx");
  return { default: module.TokensPage };
});
const HealthPage = lazy(async () => {
  const module = await import("#web/admin/health-page.tsx");
  return { default: module.HealthPage };
});

/** The frame around every view. */
export function Shell() {
  const app = useApp();
  const route = useRoute();
  const { status } = useStore(app.sessions.view);
  const { notify } = useStore(settings);
  useCommands(useMemo(() => createShellCommands(app, { notify }), [app, notify]));
  const isSession = route.name === "session" || route.name === "recording";
  return (
    <div className={css.shell} data-view={route.name}>
      <TopBar route={route} />
      {status === "away" ? (
        <div className={css.away} role="status">
          Can’t reach the server. Showing the last known state; reconnecting…
        </div>
      ) : null}
      <div className={css.columns}>
        {isSession ? (
          <aside className={css.rail} aria-label="Sessions">
            <SessionRail currentId={route.sessionId} />
          </aside>
        ) : null}
        <main className={css.main} id="main" tabIndex={-1}>
          <Crash place={"sessionId" in route ? `${route.name} ${route.sessionId}` : route.name}>
            <Suspense fallback={<Loading what="Loading" />}>{view(route, app)}</Suspense>
          </Crash>
        </main>
      </div>
      <Attention />
      <Palette />
      <ToastList toasts={app.toasts} />
    </div>
  );
}

function view(route: Route, { identity }: App): ReactNode {
  switch (route.name) {
    case "sessions":
      return <SessionsPage />;
    case "new":
      return <NewSession kind={route.kind} />;
    case "session":
      return <SessionPage key={route.sessionId} sessionId={route.sessionId} />;
    case "recording":
      return <RecordingPage key={route.sessionId} sessionId={route.sessionId} at={route.at} />;
    case "audit":
      return mayDo(identity, "admin") ? <AuditPage /> : <NotForYou what="the audit log" />;
    case "tokens":
      return mayDo(identity, "admin") ? <TokensPage /> : <NotForYou what="tokens" />;
    case "health":
      return <HealthPage />;
    case "unknown":
      return (
        <Empty level={1} icon="question" title="There is nothing at this address">
          <a href="#/">See all sessions</a>
        </Empty>
      );
  }
}

function NotForYou({ what }: { readonly what: string }) {
  return (
    <Empty level={1} icon="shield" title={`Only an admin sees ${what}`}>
      Your ticket came from a token with a smaller role.
    </Empty>
  );
}
