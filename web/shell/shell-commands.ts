import type { Command } from "#web/app/commands.ts";
import { type App, mayDo } from "#web/app/context.ts";
import { formatRoute, navigate, type Route } from "#web/app/router.ts";
import { changeSettings, type Settings } from "#web/live/settings.ts";
import { allowNotifications, stopNotifications } from "./notifications.ts";

/** What can be done from everywhere. */
export function createShellCommands(app: App, { notify }: Pick<Settings, "notify">): Command[] {
  const { identity } = app;
  return [
    go("Show all sessions", { name: "sessions" }, "g s"),
    ...(mayDo(identity, "operator") ? starts : []),
    go("Show health", { name: "health" }, "g h"),
    ...(mayDo(identity, "admin") ? ofAdmins : []),
    ...themes,
    {
      id: "notify",
      group: "Look",
      title: notify ? "Stop desktop notifications" : "Allow desktop notifications",
      run: () => (notify ? stopNotifications() : void askToNotify(app)),
    },
  ];
}

async function askToNotify({ toasts }: App): Promise<void> {
  const problem = await allowNotifications();
  if (problem !== undefined) toasts.add("bad", problem);
}

function go(title: string, route: Route, keys: string): Command {
  return {
    id: `go.${formatRoute(route)}`,
    group: "Go to",
    title,
    keys,
    run: () => navigate(route),
  };
}

const starts: readonly Command[] = [
  go("Open a shell", { name: "new", kind: "shell" }, "n s"),
  go("Run a command", { name: "new", kind: "command" }, "n c"),
  go("Start an agent", { name: "new", kind: "agent" }, "n a"),
].map((command) => ({ ...command, group: "Start" }));

const ofAdmins: readonly Command[] = [
  go("Show the audit log", { name: "audit" }, "g a"),
  go("Show tokens", { name: "tokens" }, "g t"),
];

const themes: readonly Command[] = (["system", "light", "dark"] as const).map((theme) => ({
  id: `theme.${theme}`,
  group: "Look",
  title: `Use the ${theme} theme`,
  run: () => changeSettings({ theme }),
}));
