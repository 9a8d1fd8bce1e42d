import type { Team } from "#agent/team/team.ts";
import type { Caller } from "#app/caller.ts";
import type { Places } from "#app/session.ts";
import type { Client } from "#client/client.ts";
import type { TeamSource } from "#contract/agent/spec.ts";
import { isCrashed } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import type { Operations } from "#contract/operations.ts";
import type { ProcessResult } from "#contract/tools/process.ts";
import type { ToolInput, ToolOptions } from "#contract/tools/tools.ts";
import { createOwnCalls } from "#daemon/own-calls.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { joinHost, openHost } from "#host/socket/start-host.ts";
import { createLocalHosts, openLocalHosts } from "#session/local-host.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";
import { createFamilies, type FamilyName } from "./families.ts";
import type { OwnAttachDeps } from "./own-attach.ts";

export interface OwnClientOptions {
  readonly dataDir: string;
  /** How to run `reins`, for the host and the workers. */
  readonly command: readonly string[];
  /** Where the keys of model providers are. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user of this machine, and where the user is. */
  readonly caller: Caller;
  /** Absent = `localPlaces`. */
  readonly places?: Places | undefined;
  /** The name that others see at a session that this process controls. Absent = the caller's. */
  readonly viewer?: string | undefined;
  /**
   * - `start` (absent): the first call that needs a host starts it
   * - `join`: starts none; without one nothing lives, and no session is listed
   * - `read`: as `start`; reads the files alone where no host can run because nothing can be written
   */
  readonly host?: "start" | "join" | "read" | undefined;
  /** Loads what attachments need. Absent = `attach` is a bug. */
  readonly attaches?: boolean | undefined;
  /** Called when `read` has to do without a host. */
  readonly onUnwritable?: ((fault: Fault) => void) | undefined;
  /** Override for tests. */
  readonly connect?: typeof openHost;
}

/** The sessions of this machine without a server: the operations run in this process. */
export interface OwnClient extends Client, AsyncDisposable {
  readonly address: undefined;
  /** `process.execute` with stdout and stderr apart, for a caller that follows what it starts. */
  execute(input: ToolInput<"execute">, options?: ToolOptions): Promise<ProcessResult>;
  /** All that is in a team; `team.load` answers a summary. */
  readTeam(source: TeamSource): Promise<Team>;
}

/**
 * Operations whose input the host or the reader itself checks. Their schemas stay unloaded, because `ps`, `run`, `attach`
 * and `logs` need nothing else.
 */
const UNCHECKED: readonly (FamilyName | undefined)[] = ["sessions", "output"];

export async function openOwnClient(options: OwnClientOptions): Promise<OwnClient> {
  const stack = new AsyncDisposableStack();
  const tending = new Set<Promise<void>>();
  const hosts = await openHosts(options, stack, (handle) => tend(handle));
  const families = createFamilies(options, hosts, stack);
  // Without a server, an agent that crashed is restarted by the command that looks at it.
  const tend = (handle: SessionHandle) => {
    const look = () => {
      if (!isCrashed(handle.session)) return;
      const looked = families.tendAgent(handle.session).finally(() => tending.delete(looked));
      tending.add(looked);
    };
    handle.on(look);
    look();
  };
  const attach = await loadAttach({ ...options, hosts, screens: families.openScreens });
  return {
    address: undefined,
    ...createOwnCalls({
      find: async (name) => {
        const family = findFamily(name);
        return family === undefined ? {} : await families.handlers[family]();
      },
      isChecked: (name) => !UNCHECKED.includes(findFamily(name)),
    }),
    attach,
    execute: async (input, how) => (await families.processTools()).execute(input, how),
    readTeam: families.readTeam,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(tending);
      await stack.disposeAsync();
    },
  };
}

async function loadAttach(
  deps: OwnAttachDeps & Pick<OwnClientOptions, "attaches">,
): Promise<Client["attach"]> {
  if (deps.attaches !== true)
    return () => {
      throw new Error("this client was opened without attaches");
    };
  const { createOwnAttach } = await import("./own-attach.ts");
  return createOwnAttach(deps);
}

const familyNames: Readonly<Record<string, FamilyName>> = {
  session: "sessions",
  "session.output": "output",
  "session.events": "events",
  "session.screen": "screens",
  "session.wait": "waits",
  "session.export": "exports",
  agent: "agents",
  team: "agents",
  process: "processes",
};

function findFamily(name: keyof Operations): FamilyName | undefined {
  return familyNames[name] ?? familyNames[name.split(".")[0] ?? ""];
}

async function openHosts(
  { dataDir, command, env, host = "start", connect = openHost, onUnwritable }: OwnClientOptions,
  stack: AsyncDisposableStack,
  opened: (handle: SessionHandle) => void,
): Promise<SessionHosts> {
  const { sessions: sessionsFolder } = locateDataDir(dataDir);
  const open = () => connect({ dataDir, command, env });
  if (host === "start") return stack.use(openLocalHosts({ open, sessionsFolder, opened }));
  try {
    const client = await (host === "join" ? joinHost(dataDir, env) : open());
    return client === undefined
      ? await openStopped(sessionsFolder, { isRead: false })
      : createLocalHosts(stack.use(client), sessionsFolder);
  } catch (error) {
    if (host !== "read" || !(error instanceof Fault) || !isUnwritable(error)) throw error;
    onUnwritable?.(error);
    return await openStopped(sessionsFolder, { isRead: true });
  }
}

async function openStopped(
  folder: string,
  { isRead }: { readonly isRead: boolean },
): Promise<SessionHosts> {
  const { createStoppedHosts } = await import("#session/stopped-hosts.ts");
  if (!isRead) return createStoppedHosts([], folder);
  const { readSessions } = await import("#host/sessions/read-sessions.ts");
  return createStoppedHosts(readSessions(folder), folder);
}

function isUnwritable({ code, details }: Fault): boolean {
  return (
    code === "host_unavailable" && ["EROFS", "EACCES", "EPERM"].includes(String(details.errno))
  );
}
