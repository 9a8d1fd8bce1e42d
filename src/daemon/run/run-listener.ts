import { join } from "node:path";
import type { Gateway } from "#app/gateway.ts";
import { systemClock } from "#base/clock.ts";
import { type Logger, openFileLogger } from "#base/logger.ts";
import { isFinal, isResumable } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import { openGateway } from "#daemon/gateway/open-gateway.ts";
import { readTls } from "#daemon/gateway.ts";
import { type DataDir, openDataDir } from "#host/data-dir.ts";
import { findHost } from "#host/socket/start-host.ts";
import { openHttpServer } from "#http/server.ts";
import { withoutMarks } from "#proc/environment.ts";
import { identify, isAlive } from "#proc/identity.ts";
import { createRegistry, type Registry } from "#registry/registry.ts";
import { RECORD_VERSION, type RunRecord } from "#registry/run-record.ts";
import { LINGER_MS, type LocalHosts, openLocalHosts } from "#session/local-host.ts";
import { createScopedHosts } from "#session/scoped-host.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";
import { IN_MEMORY } from "#store/open-database.ts";
import { createTokenSecret } from "#store/secret.ts";
import { openStore, type Store } from "#store/store.ts";
import { createOnlyGateway } from "./only-session.ts";
import { parseRunPlace, type RunPlace, removeStaleSocket, withPrivateFiles } from "./run-socket.ts";

export interface RunListenerOptions {
  readonly dataDir: string;
  readonly version: string;
  /** How to run `reins`, for the next life of an agent. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly listen: string;
  /** Files. Asked for inside, so that what is wrong with them is told like everything else. */
  readonly tls?: (() => { readonly cert: string; readonly key: string } | undefined) | undefined;
  readonly allowInsecure?: boolean | undefined;
}

/**
 * The control plane of one run:
 *
 *   listening      nobody can see anything yet; what cannot be listened on is known before anything was started
 *     └ serve(id)  the record is written; its token lets in, to this session alone
 *         └ ended  the session has ended for good, was removed, or its host has gone; the record goes first
 */
interface RunListener extends AsyncDisposable {
  readonly address: string;
  serve(sessionId: string): Promise<void>;
  /** Resolves when there is nothing left to serve. */
  readonly ended: Promise<void>;
}

/** Those who follow the run hear of its end before the door closes. */
const LAST_WORDS_MS = 1000;
const LABEL = { label: "run", user_id: "local", role: "operator", workspaces: "*" } as const;

export async function openRunListener(options: RunListenerOptions): Promise<RunListener> {
  await using stack = new AsyncDisposableStack();
  const files = options.tls?.();
  const { allowInsecure: isAllowed = false } = options;
  const place = parseRunPlace(options.listen, { isTls: files !== undefined, isAllowed });
  const tls = files === undefined ? undefined : readTls(files);
  const dir = openDataDir(options.dataDir);
  const log = stack.use(openFileLogger(join(dir.path, "gateway.log"), systemClock.now));
  const store = stack.use(openStore({ path: IN_MEMORY, clock: systemClock, log }));
  let sessionId: string | undefined;
  const local = stack.use(openHostsOf(dir, options, log));
  const hosts = createScopedHosts(local, () => sessionId);
  const gateway = stack.use(openOnlyGateway(options, { store, log, hosts }));
  const server = stack.use(await listen(place, { gateway, log, tls }));
  const ended = Promise.withResolvers<void>();
  const registry = createRegistry(dir.path, { isAlive });
  const owned = stack.move();
  return {
    address: server.url,
    ended: ended.promise,
    serve: async (id) => {
      if (sessionId !== undefined) throw new Fault("conflict", `${sessionId} is served here`);
      sessionId = id;
      const handle = owned.use(await gateway.hosts.of(id).open(id));
      const token = createTokenSecret();
      store.tokens.registerLocal(token, LABEL);
      const agent = await findAgent(gateway, token, handle.session);
      const following = owned.use(
        openRunEntry({ handle, registry, facts: { address: server.url, token, agent } }),
      );
      void following.ended.then(() => {
        log.info("the run has ended", { session_id: id, address: server.url });
        ended.resolve();
      });
      log.info("a run is served", { session_id: id, address: server.url, pid: process.pid });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface OnlyDeps {
  readonly store: Store;
  readonly log: Logger;
  readonly hosts: SessionHosts;
}

function openOnlyGateway(options: RunListenerOptions, { store, log, hosts }: OnlyDeps): Gateway {
  const { command, env, version } = options;
  const dir = openDataDir(options.dataDir);
  const gateway = openGateway({
    ...{ store, log, version, command, hosts, clock: systemClock },
    dataDir: dir.path,
    sessionsFolder: dir.sessions,
    // Whoever holds the token of a run acts for the person who started it: its next life has what the first one had.
    where: { env: withoutMarks(env), work_dir: "/", umask: undefined },
    keyEnv: env,
    taskIdleMs: limits.task_idle_ms,
    shell: undefined,
    defaultWaitMs: limits.execute_wait_ms,
    isStopping: () => false,
    teams: { folder: join(dir.path, "runs", "no-teams"), named: {}, roots: [] },
  });
  return createOnlyGateway(gateway);
}

/** A host that is started now would not have a run that lives, so none is started. */
function openHostsOf(dir: DataDir, { env }: RunListenerOptions, log: Logger): LocalHosts {
  const clock = systemClock;
  return openLocalHosts({
    open: async () => {
      const host = await findHost(dir, env);
      if (host !== undefined) return host;
      throw new Fault("host_unavailable", "the host of this run has gone");
    },
    find: () => findHost(dir, env),
    sessionsFolder: dir.sessions,
    linger: { clock, ms: LINGER_MS },
    reconnect: { clock, log, endsWithHost: true },
  });
}

interface Served {
  readonly gateway: Gateway;
  readonly log: Logger;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
}

async function listen(place: RunPlace, served: Served) {
  const { socketPath } = place;
  const open = () => openHttpServer({ ...place, ...served, clock: systemClock });
  if (socketPath === undefined) return await open();
  await removeStaleSocket(socketPath);
  return await withPrivateFiles(open);
}

/** The name of the agent that is spoken to; a terminal or a command has none. */
async function findAgent(
  { identify: admit, operations }: Gateway,
  token: string,
  { kind, session_id }: Session,
): Promise<string | undefined> {
  const caller = admit(token);
  if (kind !== "agent" || caller === undefined) return undefined;
  const { agent } = await operations(caller)["agent.snapshot"]({ session_id });
  return agent;
}

interface EntryDeps {
  readonly handle: SessionHandle;
  readonly registry: Registry;
  readonly facts: Pick<RunRecord, "address" | "token" | "agent">;
}

/** Keeps the record as long as the run lives: it names the child of now, and is gone before the door closes. */
function openRunEntry({ handle, registry, facts }: EntryDeps): Disposable & {
  readonly ended: Promise<void>;
} {
  using stack = new DisposableStack();
  const entry = stack.use(registry.open(describeRun(handle.session, facts)));
  const ended = Promise.withResolvers<void>();
  let child = nameChild(handle.session);
  const look = () => {
    if (handle.state === "closed" || isOver(handle.session)) {
      entry[Symbol.dispose]();
      stopLooking[Symbol.dispose]();
      owned.use(systemClock.timer(LAST_WORDS_MS, () => ended.resolve()));
      return;
    }
    if (nameChild(handle.session) === child) return;
    child = nameChild(handle.session);
    entry.update(describeRun(handle.session, facts));
  };
  const stopLooking = stack.use(handle.on(look));
  const owned = stack.move();
  look();
  return { ended: ended.promise, [Symbol.dispose]: () => owned.dispose() };
}

/** For good: an agent that is parked comes back. What children of a command still print belongs to it. */
export function isOver(session: Session): boolean {
  return isFinal(session) && !isResumable(session);
}

function nameChild({ pid, state }: Session): string {
  return `${state.kind} ${pid}`;
}

function describeRun(session: Session, facts: EntryDeps["facts"]): RunRecord {
  const { session_id, kind, created_at, work_dir, pid, state } = session;
  const isRunning = pid !== null && state.kind === "running";
  return {
    version: RECORD_VERSION,
    session_id,
    pid: isRunning ? pid : null,
    start_time: isRunning ? identify(pid).start_time : null,
    kind,
    ...facts,
    started_at: created_at,
    work_dir,
    server: identify(process.pid),
  };
}
