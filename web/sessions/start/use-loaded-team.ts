import { useEffect, useState } from "react";
import type { TeamSummary } from "#contract/agent/views.ts";
import { useApp } from "#web/app/context.ts";
import { type TeamChoice, toSource } from "./start-input.ts";

/** A path is looked at when nobody has typed for so long. */
const TYPED_MS = 500;

interface LoadedTeam {
  readonly value: TeamSummary | undefined;
  readonly error: unknown;
}

const none: LoadedTeam = { value: undefined, error: undefined };

/** What is in the chosen team, or what is wrong with it. */
export function useLoadedTeam(team: TeamChoice | undefined): LoadedTeam {
  const { client } = useApp();
  const [loaded, setLoaded] = useState(none);
  useEffect(() => {
    setLoaded(none);
    if (team === undefined || (team.kind === "path" && team.path.trim() === "")) return;
    const ending = new AbortController();
    const { signal } = ending;
    const load = () => {
      client.call("team.load", { source: toSource(team) }, { signal }).then(
        (value) => {
          if (!signal.aborted) setLoaded({ value, error: undefined });
        },
        (error: unknown) => {
          if (!signal.aborted) setLoaded({ value: undefined, error });
        },
      );
    };
    const timer = window.setTimeout(load, team.kind === "path" ? TYPED_MS : 0);
    return () => {
      window.clearTimeout(timer);
      ending.abort();
    };
  }, [client, team]);
  return loaded;
}
