import { createContext, useContext, useSyncExternalStore } from "react";
import type { Conversation } from "#contract/conversation/items.ts";
import type { Session } from "#contract/session.ts";
import type { AgentSession, AgentShown } from "./agent-session.ts";

/** What every part of an agent's view has. */
export interface AgentPlace {
  readonly agent: AgentSession;
  readonly session: Session;
  /** The sessions that this one has started. */
  readonly children: readonly Session[];
  /** May speak to it, answer it and change it. */
  readonly mayAct: boolean;
}

export const AgentContext = createContext<AgentPlace | undefined>(undefined);

export function useAgent(): AgentPlace {
  const place = useContext(AgentContext);
  if (place === undefined) throw new Error("this is drawn outside of an agent's view");
  return place;
}

export function useShown<T>(choose: (shown: AgentShown) => T): T {
  const { view } = useAgent().agent;
  return useSyncExternalStore(view.subscribe, () => choose(view.get()));
}

/** A part of the conversation; drawn again only when that part is another. */
export function useTalk<T>(choose: (talk: Conversation) => T): T {
  return useShown(({ talk }) => choose(talk));
}
