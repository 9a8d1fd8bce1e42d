import { mayDo, useApp } from "#web/app/context.ts";
import { formatRoute, type Route } from "#web/app/router.ts";
import { useStore } from "#web/live/store.ts";
import { Keys } from "#web/palette/keys-view.tsx";
import { openPalette } from "#web/palette/palette.tsx";
import { Icon, type IconName } from "#web/ui/icons.tsx";
import { AccountMenu } from "./account-menu.tsx";
import css from "./top-bar.module.css";

interface Place {
  readonly label: string;
  readonly icon: IconName;
  readonly route: Route;
}

/** On a phone a session has the whole screen: its own bar has the way back. */
export function TopBar({ route }: { readonly route: Route }) {
  const { identity } = useApp();
  return (
    <header className={css.bar} data-quiet={route.name === "session" || route.name === "recording"}>
      <a className={css.skip} href={formatRoute(route)} onClick={focusMain}>
        Skip to the content
      </a>
      <a className={css.brand} href="#/" aria-label="Reins, all sessions">
        <span className={css.emblem}>
          <Icon name="reins" size={20} />
        </span>
        <span className={css.word}>Reins</span>
      </a>
      <Places route={route} />
      <button
        type="button"
        className={css.search}
        aria-keyshortcuts="Control+K"
        onClick={openPalette}
      >
        <Icon name="search" size={16} />
        <span className={css.hint}>Go to, do…</span>
        <span className={css.keys} aria-hidden="true">
          <Keys keys="Mod+K" />
        </span>
      </button>
      {mayDo(identity, "operator") ? (
        <a className={css.new} href={formatRoute({ name: "new", kind: "shell" })}>
          <Icon name="plus" size={17} />
          <span>New</span>
        </a>
      ) : null}
      <AccountMenu />
    </header>
  );
}

function focusMain(event: { preventDefault(): void }): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Places({ route }: { readonly route: Route }) {
  const { identity, sessions } = useApp();
  const { asking } = useStore(sessions.view);
  const places: readonly Place[] = [
    { label: "Sessions", icon: "list", route: { name: "sessions" } },
    ...(mayDo(identity, "admin") ? ofAdmins : []),
    { label: "Health", icon: "pulse", route: { name: "health" } },
  ];
  return (
    <nav className={css.nav} aria-label="Places">
      {places.map(({ label, icon, route: to }) => (
        <a
          key={label}
          href={formatRoute(to)}
          title={label}
          aria-current={to.name === route.name ? "page" : undefined}
        >
          <Icon name={icon} size={17} />
          <span className={css.label}>{label}</span>
          {to.name === "sessions" && asking.size > 0 ? (
            <b className={css.count}>
              {asking.size}
              <span className="visually-hidden"> waiting for an answer</span>
            </b>
          ) : null}
        </a>
      ))}
    </nav>
  );
}

const ofAdmins: readonly Place[] = [
  { label: "Audit", icon: "shield", route: { name: "audit" } },
  { label: "Tokens", icon: "key", route: { name: "tokens" } },
];
