import { useEffect, useRef } from "react";
import type { Glance } from "#contract/operations/session.ts";
import type { Session } from "#contract/session.ts";
import { useApp } from "#web/app/context.ts";
import { useStore } from "#web/live/store.ts";
import { GLANCE_MS, glancesOf } from "./glances.ts";

/** Whoever scrolls through is not asked about what passes by. */
const SETTLED_MS = 120;

/** What the sessions did last, asked for those that are shown, while somebody looks. */
export function useGlances(shown: readonly Session[]): ReadonlyMap<string, Glance> {
  const glances = glancesOf(useApp().client);
  const latest = useRef(shown);
  useEffect(() => {
    latest.current = shown;
  });
  // What is due also depends on whether it runs.
  const key = shown.map(({ session_id, state }) => `${session_id} ${state.kind}`).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows are another question.
  useEffect(() => {
    const ending = new AbortController();
    const ask = () => {
      if (document.visibilityState === "visible")
        void glances.refresh(latest.current, ending.signal);
    };
    const soon = window.setTimeout(ask, SETTLED_MS);
    const timer = window.setInterval(ask, GLANCE_MS);
    document.addEventListener("visibilitychange", ask);
    return () => {
      ending.abort();
      window.clearTimeout(soon);
      window.clearInterval(timer);
      document.removeEventListener("visibilitychange", ask);
    };
  }, [glances, key]);
  return useStore(glances.view);
}
