import { useCallback, useMemo, useRef } from "react";
import type { CallOptions } from "#client/client.ts";
import { limits } from "#contract/limits.ts";
import { useCommands } from "#web/app/commands.ts";
import { mayDo, useApp } from "#web/app/context.ts";
import { useStore } from "#web/live/store.ts";
import { useCall } from "#web/live/use-call.ts";
import { useDeeds } from "#web/sessions/actions/use-deeds.tsx";
import {
  buildRows,
  countPhases,
  type ListChoice,
  type ListSource,
} from "#web/sessions/session-rows.ts";
import { Loading } from "#web/ui/notice.tsx";
import { EmptyList, NothingFound } from "./empty-list.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { listChoice } from "./list-choice.ts";
import { SelectionBar } from "./selection-bar.tsx";
import { SessionGrid } from "./session-grid.tsx";
import css from "./sessions-page.module.css";
import { useActivity } from "./use-activity.ts";
import { useFolded, useSelected } from "./use-marks.ts";

/** Everything that runs, and what has ended. */
export function SessionsPage() {
  const { identity, sessions } = useApp();
  const view = useStore(sessions.view);
  const workspaces = useWorkspaces();
  const choice = useChoice(workspaces);
  const source = useSource(choice);
  const { folded, fold } = useFolded();
  const { selected, toggle, clear } = useSelected(view.sessions);
  const { perform, end, dialog } = useDeeds(clear);
  const search = useRef<HTMLInputElement>(null);
  useCommands(useMemo(() => [searchCommand(() => search.current?.focus())], []));
  const rows = useMemo(
    () => buildRows(source, { choice, collapsed: folded }),
    [source, choice, folded],
  );
  const counts = useMemo(() => countPhases(source, choice), [source, choice]);
  const hasAgents = useMemo(() => rows.some(({ session }) => session.kind === "agent"), [rows]);
  if (view.status === "connecting") return <Loading what="Listing the sessions" />;
  if (view.sessions.size === 0)
    return (
      <>
        <h1 className="visually-hidden">Sessions</h1>
        <EmptyList />
      </>
    );
  const mayChange = mayDo(identity, "operator");
  return (
    <div className={css.page}>
      <h1 className="visually-hidden">Sessions</h1>
      <FilterBar searchRef={search} choice={choice} counts={counts} workspaces={workspaces} />
      <SelectionBar selected={selected} onEnd={end} onClear={clear} />
      {rows.length === 0 ? (
        <NothingFound choice={choice} />
      ) : (
        <SessionGrid
          rows={rows}
          workspaces={workspaces}
          hasAgents={hasAgents}
          mayChange={mayChange}
          selected={selected.ids}
          onSelect={toggle}
          onFold={fold}
          onDeed={perform}
        />
      )}
      {dialog}
    </div>
  );
}

function searchCommand(run: () => void) {
  return { id: "sessions.search", group: "Sessions", title: "Search sessions", keys: "/", run };
}

/** A workspace that is gone, or the only one, hides nothing. */
function useChoice(workspaces: ReadonlyMap<string, string> | undefined): ListChoice {
  const choice = useStore(listChoice);
  return useMemo(() => {
    const { workspaceId } = choice;
    const isKnown = workspaceId === undefined || workspaces?.has(workspaceId) === true;
    return isKnown ? choice : { ...choice, workspaceId: undefined };
  }, [choice, workspaces]);
}

function useSource({ order }: ListChoice): ListSource {
  const { sessions } = useApp();
  const view = useStore(sessions.view);
  const activity = useActivity(order === "activity");
  return useMemo(
    () => ({
      sessions: view.sessions,
      asking: view.asking,
      findActivity: (id) => activity.get(id),
    }),
    [view, activity],
  );
}

/** Names by id, where there is more than one. */
function useWorkspaces(): ReadonlyMap<string, string> | undefined {
  const { client } = useApp();
  const ask = useCallback(
    (options: CallOptions) => client.call("workspace.list", { limit: limits.list_most }, options),
    [client],
  );
  const { value } = useCall(ask);
  return useMemo(() => {
    if (value === undefined || value.workspaces.length < 2) return undefined;
    return new Map(value.workspaces.map(({ workspace_id, name }) => [workspace_id, name]));
  }, [value]);
}
