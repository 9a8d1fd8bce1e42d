import { useEffect, useId, useMemo, useState } from "react";
import { useCommands } from "#web/app/commands.ts";
import { type App, useApp } from "#web/app/context.ts";
import { useRoute } from "#web/app/router.ts";
import { sayFault } from "#web/live/page-client.ts";
import { changeSettings, type Settings, settings } from "#web/live/settings.ts";
import { useStore } from "#web/live/store.ts";
import { openShortcutHelp } from "#web/palette/palette.tsx";
import { Button } from "#web/ui/button.tsx";
import { formatMoment } from "#web/ui/format.ts";
import css from "./account-menu.module.css";
import { allowNotifications, stopNotifications } from "./notifications.ts";

/** Who somebody is here, how this browser shows things, and the way out. */
export function AccountMenu() {
  const app = useApp();
  const id = useId();
  const { user_id } = app.identity;
  const commands = useMemo(
    () => [
      { id: "account.logout", group: "Account", title: "Log out", run: () => void logOut(app) },
    ],
    [app],
  );
  useCommands(commands);
  const hide = () => document.getElementById(id)?.hidePopover();
  const route = useRoute();
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever goes elsewhere is done here.
  useEffect(() => document.getElementById(id)?.hidePopover(), [id, route]);
  return (
    <>
      <button
        type="button"
        className={css.button}
        popoverTarget={id}
        aria-label={`Account of ${user_id}`}
        title={`Account of ${user_id}`}
      >
        {[...user_id][0]?.toUpperCase() ?? "?"}
      </button>
      <section id={id} popover="auto" className={css.panel} aria-label="Account">
        <WhoYouAre />
        <ThemeChoice />
        <NotifyChoice />
        <div className={css.actions}>
          <Button
            icon="keyboard"
            onClick={() => {
              hide();
              openShortcutHelp();
            }}
          >
            Shortcuts
          </Button>
          <Button onClick={() => void logOut(app)}>Log out</Button>
        </div>
      </section>
    </>
  );
}

async function logOut({ client, toasts }: App): Promise<void> {
  try {
    await client.call("caller.logout", {});
    window.location.reload();
  } catch (error) {
    toasts.add("bad", `You are still in: ${sayFault(error)}`);
  }
}

const ROLES = {
  viewer: "You may look, and change nothing.",
  operator: "You may look, type, start and close.",
  admin: "You may do everything, and say who else may.",
} as const;

function WhoYouAre() {
  const { user_id, role, workspaces, expires_at } = useApp().identity;
  const scope =
    workspaces === "*"
      ? "every workspace"
      : `${workspaces.length} ${workspaces.length === 1 ? "workspace" : "workspaces"}`;
  return (
    <div className={css.who}>
      <strong>{user_id}</strong>
      <p>
        {role} in {scope}
      </p>
      <p className={css.small}>{ROLES[role]}</p>
      <p className={css.small}>
        {expires_at === null
          ? "For as long as this browser’s cookie lasts."
          : `Until ${formatMoment(expires_at)}.`}
      </p>
    </div>
  );
}

const THEMES: readonly (readonly [Settings["theme"], string])[] = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
];

function ThemeChoice() {
  const { theme } = useStore(settings);
  const name = useId();
  return (
    <fieldset className={css.themes}>
      <legend>Theme</legend>
      {THEMES.map(([value, label]) => (
        <label key={value}>
          <input
            type="radio"
            name={name}
            checked={theme === value}
            onChange={() => changeSettings({ theme: value })}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}

function NotifyChoice() {
  const { notify } = useStore(settings);
  const [refusal, setRefusal] = useState<string>();
  const isOn = notify && "Notification" in window && Notification.permission === "granted";
  const change = async () => {
    if (isOn) stopNotifications();
    else setRefusal(await allowNotifications());
  };
  return (
    <div>
      <label className={css.check}>
        <input type="checkbox" checked={isOn} onChange={() => void change()} />
        Desktop notifications
      </label>
      <p className={css.small} role="status">
        {refusal ?? "When an agent needs an answer or a session ends, and this page is hidden."}
      </p>
    </div>
  );
}
