import { join } from "node:path";
import { createExportOperations } from "#app/export/export.ts";
import { createScreenOperations } from "#app/read/screen.ts";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { asFault } from "#contract/fault.ts";
import { LOCAL_WORKSPACE } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import type { Health } from "#contract/operations/server.ts";
import type { Operations } from "#contract/operations.ts";
import type { Tools } from "#contract/tools/tools.ts";
import type { HostHealth } from "#host/socket/methods.ts";
import { openScreens, type Screens } from "#screen/screens.ts";
import type { SessionHosts } from "#session/session-host.ts";
import type { Store } from "#store/store.ts";
import type { TokenRow } from "#store/tokens.ts";
import { createAgentOperations } from "./agent/agent.ts";
import { type Agents, createAgents, interruptAgent } from "./agent/agents.ts";
import { type Audit, createAudit, createAuditOperations, createHostAudit } from "./audit.ts";
import type { Caller, Where, Who } from "./caller.ts";
import { createDirectoryOperations } from "./directory.ts";
import { createGlanceOperations } from "./glances.ts";
import { RemovedWorkspaces } from "./live/removed-workspaces.ts";
import { SessionBoard } from "./live/session-board.ts";
import { createProcessOperations } from "./process/process.ts";
import { createEventOperations } from "./read/events.ts";
import { createOutputOperations } from "./read/output.ts";
import { openPatterns, type Patterns } from "./read/patterns.ts";
import { createSessionsEvents } from "./read/sessions-events.ts";
import { createWaitOperations } from "./read/wait.ts";
import { type AgentsTended, tendAgents } from "./restart/tend-agents.ts";
import { createSessionOperations } from "./session.ts";
import { createShellOperations } from "./shell/shell.ts";
import { createTaskOperations } from "./task.ts";
import type { TeamSourcesDeps } from "./team/team-sources.ts";
import { createTicketOperations, type ExchangedTicket, exchangeTicket } from "./ticket.ts";
import { createTokenOperations, findIdentity } from "./token.ts";
import { createTools } from "./tools.ts";
import { createPlaces, createWorkspaceOperations } from "./workspace.ts";

/** Those that a door answers by itself. */
type OfTheDoor = Extract<keyof Operations, `server.${string}`> | "ticket.exchange";
export type GatewayOperations = Omit<Operations, OfTheDoor>;

/** Everything that a door to the world needs: who comes, what they may call, and sessions to follow. */
export interface Gateway extends AsyncDisposable {
  /** The caller whose token this is. */
  identify(secret: string): Who | undefined;
  /** Whether the token is still one, and so is the cookie. */
  knows(who: Who): boolean;
  exchangeTicket(ticket: string): ExchangedTicket;
  operations(who: Who): GatewayOperations;
  /** What a model of the caller may be given. */
  tools(who: Who): Tools;
  health(who: Who | undefined): Promise<Health>;
  /** Undefined when no host answers. */
  hostHealth(): Promise<HostHealth | undefined>;
  readonly hosts: SessionHosts;
  readonly screens: Screens;
  readonly audit: Audit;
  /** The environment and the directory of the children of every caller. */
  readonly where: Where;
}

export interface GatewayDeps {
  readonly store: Store;
  readonly hosts: SessionHosts;
  readonly dataDir: string;
  readonly sessionsFolder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** The environment and the directory of the children of every caller. */
  readonly where: Where;
  readonly taskIdleMs: number;
  readonly shell: string | undefined;
  /** Of `execute`. */
  readonly defaultWaitMs: number;
  readonly isStopping: () => boolean;
  /** How to run `reins`, for the workers of agents. */
  readonly command: readonly string[];
  /** Where the keys of model providers are. They reach workers alone, and no environment. */
  readonly keyEnv: Readonly<Record<string, string | undefined>>;
  /** How long an agent's worker may have nothing to do; absent = its own choice. */
  readonly parkAfterMs?: number | undefined;
  /** Where teams come from. */
  readonly teams: TeamSourcesDeps;
}

/** The board has one listener that belongs to no request: the one that restarts agents. */
const OWN_LISTENERS = 1;

export function openGateway(deps: GatewayDeps): Gateway {
  // Nothing below fails: threads and connections are opened when somebody needs them.
  const owned = new AsyncDisposableStack();
  const { store, clock, log, hosts } = deps;
  const removedWorkspaces = new RemovedWorkspaces(hosts, log);
  const board = createBoard(deps, removedWorkspaces);
  const isFollowed = () => board.changes.size > OWN_LISTENERS || tended.hasRunning();
  for (const host of hosts.all()) owned.use(board.follow(host, isFollowed));
  const screens = owned.use(openScreens({ hosts, clock }));
  const patterns = owned.use(openPatterns());
  const audit = createAudit(store, clock, log);
  const agents = createAgents(deps);
  const tended: AgentsTended = owned.use(
    tendAgents({ ...deps, board, agents, launcher: deps.where }),
  );
  const shared = { board, screens, patterns, audit, agents, removedWorkspaces };
  const parts: Parts = { ...deps, ...shared };
  const known = new WeakMap<TokenRow, Who>();
  const operations = new WeakMap<Who, GatewayOperations>();
  const locate = (who: Who): Caller => ({ ...who, where: deps.where });
  return {
    identify: (secret) => {
      const token = findIdentity(store, secret);
      if (token === undefined) return undefined;
      return findOrMake(known, token, () => describeWho(token));
    },
    knows: ({ token_id, cookie_id }) => {
      // A cookie never outlives its token: see store/tokens.ts.
      const id = cookie_id ?? token_id;
      return id === undefined || store.tokens.findById(id) !== undefined;
    },
    exchangeTicket: (ticket) => exchangeTicket({ store, audit }, ticket),
    operations: (who) =>
      findOrMake(operations, who, () => createGatewayOperations(parts, locate(who))),
    tools: (who) =>
      createTools({ ...parts, places: createPlaces(store), ...FROM_AFAR }, locate(who)),
    health: (who) => describeHealth(parts, who),
    hostHealth: () => hosts.all()[0].health(),
    hosts,
    screens,
    audit,
    where: deps.where,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function createBoard(
  { store, clock, log }: GatewayDeps,
  removedWorkspaces: RemovedWorkspaces,
): SessionBoard {
  const ends = createHostAudit(store, clock, log);
  return new SessionBoard(clock, log, {
    seen: (session) => {
      ends.ended(session);
      removedWorkspaces.check(session);
    },
    removed: ends.removed,
  });
}

/** Who asks often need not be described each time. */
function findOrMake<K extends object, V>(made: WeakMap<K, V>, key: K, make: () => V): V {
  const known = made.get(key) ?? make();
  made.set(key, known);
  return known;
}

interface Parts extends GatewayDeps {
  readonly board: SessionBoard;
  readonly screens: Screens;
  readonly patterns: Patterns;
  readonly audit: Audit;
  readonly agents: Agents;
  readonly removedWorkspaces: RemovedWorkspaces;
}

/** Who asks over the network is somewhere else, and has tools of its own for files. */
const FROM_AFAR = { requireWorkdir: true };

function createGatewayOperations(parts: Parts, caller: Caller): GatewayOperations {
  const { store } = parts;
  const places = createPlaces(store);
  const folder = join(parts.dataDir, "shells");
  return {
    ...createSessionOperations(
      {
        ...parts,
        places,
        interruptAgent: (session) => interruptAgent(parts, caller.where, session),
      },
      caller,
    ),
    ...createGlanceOperations(parts, caller),
    ...createAgentOperations({ ...parts, places }, caller),
    ...createOutputOperations(parts, caller),
    ...createEventOperations(parts, caller),
    ...createScreenOperations(parts, caller),
    ...createWaitOperations(parts, caller),
    ...createExportOperations(parts, caller),
    ...createSessionsEvents(parts, caller),
    ...createShellOperations({ ...parts, store: store.shells, places, folder }, caller),
    ...createProcessOperations({ ...parts, places, ...FROM_AFAR }, caller),
    ...createWorkspaceOperations(parts, caller),
    ...createTaskOperations(parts, caller),
    ...createDirectoryOperations(caller.where),
    ...createTokenOperations(parts, caller),
    ...createTicketOperations(parts, caller),
    ...createAuditOperations(parts, caller),
  };
}

function describeWho(token: TokenRow): Who {
  const { user_id, role, workspaces, root_token_id, kind, token_id } = token;
  const [first = LOCAL_WORKSPACE] = workspaces === "*" ? [] : workspaces;
  return {
    user_id,
    token_id: root_token_id,
    ...(kind === "cookie" ? { cookie_id: token_id } : {}),
    role,
    workspaces,
    workspace_id: first,
  };
}

async function describeHealth(parts: Parts, who: Who | undefined): Promise<Health> {
  const { version, isStopping } = parts;
  if (isStopping()) return { status: "stopping", version };
  if (who === undefined) return { status: "ok", version };
  const store = checkStore(parts.store);
  const host = await parts.hosts.all()[0].health();
  const free = host?.free_disk_bytes ?? null;
  const disk = { ok: free === null || free > limits.disk_free_floor_bytes, free_bytes: free };
  const isWell = store.ok && disk.ok && (host?.log_faults ?? 0) === 0;
  const describe = who.workspaces === "*" ? describeHost : describeHostBriefly;
  return {
    status: isWell ? "ok" : "degraded",
    version,
    store,
    host: host === undefined ? NO_HOST : describe(host),
    disk,
  };
}

const NO_HOST = { ok: true, message: "no host runs; it is started when somebody needs it" };

function describeHost(host: HostHealth): NonNullable<Health["host"]> {
  const { pid, version, uptime_ms, sessions, live, live_cap, memory_bytes, errors, log_faults } =
    host;
  return {
    ok: log_faults === 0,
    ...(log_faults === 0 ? {} : { message: describeLogFaults(log_faults) }),
    ...{ pid, version, uptime_ms, sessions, live, live_cap, memory_bytes, errors, log_faults },
  };
}

/** Without counts: they are of all workspaces, and this is for callers that see some of them. */
function describeHostBriefly(host: HostHealth): NonNullable<Health["host"]> {
  const { pid, version, uptime_ms, live_cap, log_faults } = host;
  const message = "the logs of some sessions cannot be written";
  return {
    ok: log_faults === 0,
    ...(log_faults === 0 ? {} : { message }),
    ...{ pid, version, uptime_ms, live_cap },
  };
}

function describeLogFaults(count: number): string {
  if (count === 1) return "the log of 1 session cannot be written";
  return `the logs of ${count} sessions cannot be written`;
}

function checkStore(store: Store): { ok: boolean; message?: string } {
  try {
    store.workspaces.find(LOCAL_WORKSPACE);
    return { ok: true };
  } catch (error) {
    return { ok: false, message: asFault(error).message };
  }
}
