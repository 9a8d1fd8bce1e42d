import type { Caller } from "#app/caller.ts";
import { isLive } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import type { ProcessEntry } from "#contract/tools/process.ts";
import type { ToolInput, ToolOutput } from "#contract/tools/tools.ts";
import { defined } from "#contract/values/defined.ts";
import type { HostList } from "#host/socket/methods.ts";
import type { SessionHost } from "#session/session-host.ts";
import { PROCESS_LABEL, type ProcessDeps } from "./visible-process.ts";

interface Listed {
  readonly session: Session;
  readonly background: boolean;
}

/** The newest first. What has exited is listed with what it has left running. */
export async function listProcesses(
  { hosts }: ProcessDeps,
  caller: Caller,
  { running }: ToolInput<"process_list">,
): Promise<ToolOutput<"process_list">> {
  const [host] = hosts.all();
  const states = running === undefined ? [undefined] : running ? LIVE : ENDED;
  const asked = ["foreground", "background"].flatMap((how) =>
    states.map(async (state) => {
      const page = await host.call("session.list", describeList(caller, { how, state }));
      const background = how === "background";
      return { ...page, listed: page.sessions.map((session) => ({ session, background })) };
    }),
  );
  const pages = await Promise.all(asked);
  const total = pages.reduce((sum, page) => sum + (page.total ?? page.sessions.length), 0);
  const shown = pages
    .flatMap(({ listed }) => listed)
    .toSorted((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1))
    .slice(0, limits.processes_listed);
  // All in one go: the host looks at its process table once for those that come together.
  const processes = await Promise.all(shown.map((entry) => describeEntry(host, entry)));
  const known = processes.filter((entry) => entry !== undefined);
  return { processes: known, omitted: Math.max(0, total - shown.length) };
}

const LIVE = ["live"] as const;
const ENDED = ["exited", "lost"] as const;

function describeList(
  { workspaces, process_owner }: Caller,
  { how, state }: { readonly how: string; readonly state: HostList["state"] },
): HostList {
  const owner = defined({ owner: process_owner });
  return {
    limit: limits.processes_listed,
    labels: { [PROCESS_LABEL]: how, ...owner },
    ...defined({ state }),
    ...(workspaces === "*" ? {} : { any_label: { name: "workspace_id", values: workspaces } }),
  };
}

function placeOf({ session }: Listed): string {
  return `${session.created_at} ${session.session_id}`;
}

async function describeEntry(
  host: SessionHost,
  { session, background }: Listed,
): Promise<ProcessEntry | undefined> {
  const { session_id, state } = session;
  const tree = await host.call("session.tree", { session_id }).catch(ignoreRemoved);
  if (tree === undefined) return undefined;
  const running = isLive({ state });
  const line = commandOf(session);
  const caption = line.trim().split("\n")[0]?.slice(0, limits.title_chars);
  const exit = state.kind === "exited" ? state : undefined;
  return {
    process_id: session_id,
    command: line.slice(0, limits.detail_chars),
    workdir: session.work_dir,
    background,
    running,
    ...(exit === undefined || exit.exit_code === null ? {} : { exit_code: exit.exit_code }),
    ...(exit === undefined || exit.signal === null ? {} : { signal: exit.signal }),
    pid: session.pid,
    bytes: session.tail,
    descendants: Math.max(0, tree.processes - (running ? 1 : 0)),
    ...(session.title === caption ? {} : { label: session.title }),
    started_at: session.created_at,
    ...(session.exited_at === null ? {} : { exited_at: session.exited_at }),
  };
}

/** Since it was listed. */
function ignoreRemoved(error: unknown): undefined {
  if (!(error instanceof Fault) || error.code !== "session_not_found") throw error;
}

/** One that was too long for an argument runs from a file, and is shown by its first line. */
function commandOf({ argv, title }: Session): string {
  return argv[1] === "-c" && argv[2] !== undefined ? argv[2] : title;
}
