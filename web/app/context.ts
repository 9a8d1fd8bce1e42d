import { createContext, useContext } from "react";
import type { Client } from "#client/client.ts";
import type { Identity } from "#contract/operations/access.ts";
import type { Sessions } from "#web/live/sessions.ts";
import type { Toasts } from "#web/ui/toasts.tsx";
import type { Commands } from "./commands.ts";

/** What every view has. */
export interface App {
  readonly client: Client;
  readonly identity: Identity;
  readonly sessions: Sessions;
  readonly commands: Commands;
  readonly toasts: Toasts;
}

export const AppContext = createContext<App | undefined>(undefined);

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error("this is drawn outside of the app");
  return app;
}

const RANKS = ["viewer", "operator", "admin"] as const;

export function mayDo(identity: Identity, role: (typeof RANKS)[number]): boolean {
  return RANKS.indexOf(identity.role) >= RANKS.indexOf(role);
}
