import { join } from "node:path";
import { createAgentOperations } from "#app/agent/agent.ts";
import { type Agents, createAgents, interruptAgent } from "#app/agent/agents.ts";
import { type Audit, createAudit, createAuditOperations, createHostAudit } from "#app/audit.ts";
import type { Caller, Where, Who } from "#app/caller.ts";
import { createDirectoryOperations } from "#app/directory.ts";
import { createExportOperations } from "#app/export/export.ts";
import type { Gateway, GatewayOperations } from "#app/gateway.ts";
import { createGlanceOperations } from "#app/glances.ts";
import { describeHealth } from "#app/health.ts";
import { RemovedWorkspaces } from "#app/live/removed-workspaces.ts";
import { SessionList } from "#app/live/session-list.ts";
import { createEventOperations } from "#app/read/events.ts";
import { createOutputOperations } from "#app/read/output.ts";
import { openPatterns, type Patterns } from "#app/read/patterns.ts";
import { createScreenOperations } from "#app/read/screen.ts";
import { createSessionsEvents } from "#app/read/sessions-events.ts";
import { createWaitOperations } from "#app/read/wait.ts";
import { type AgentsTended, tendAgents } from "#app/restart/tend-agents.ts";
import { createSessionOperations } from "#app/session.ts";
import { createShellOperations } from "#app/shell/shell.ts";
import { createTaskOperations } from "#app/task.ts";
import type { TeamSourcesDeps } from "#app/team/team-sources.ts";
import { createTicketOperations, exchangeTicket } from "#app/ticket.ts";
import { createTokenOperations, findIdentity } from "#app/token.ts";
import { createPlaces, createWorkspaceOperations } from "#app/workspace.ts";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { LOCAL_WORKSPACE } from "#contract/ids.ts";
import { openScreens, type Screens } from "#screen/screens.ts";
import type { SessionHosts } from "#session/session-host.ts";
import type { Store } from "#store/store.ts";
import type { TokenRow } from "#store/tokens.ts";
import { createProcessOperations } from "#tools/process/process.ts";
import { createTools } from "#tools/tools.ts";

interface GatewayDeps {
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
): SessionList {
  const ends = createHostAudit(store, clock, log);
  return new SessionList(clock, log, {
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
  readonly board: SessionList;
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
