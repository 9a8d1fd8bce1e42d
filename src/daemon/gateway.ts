import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createSecureContext } from "node:tls";
import type { Where } from "#app/caller.ts";
import type { Gateway } from "#app/gateway.ts";
import { systemClock } from "#base/clock.ts";
import { isErrno } from "#base/errno.ts";
import { type Logger, openFileLogger } from "#base/logger.ts";
import { openOnce } from "#base/once.ts";
import { findOwnPackage } from "#base/own-package.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import { type DataDir, openDataDir } from "#host/data-dir.ts";
import type { HostClient } from "#host/socket/client.ts";
import { findHost, openHost, type StartOptions } from "#host/socket/start-host.ts";
import type { AnswerMcp } from "#http/mcp.ts";
import { createPage } from "#http/page/page.ts";
import { type HttpServer, type HttpServerOptions, openHttpServer } from "#http/server.ts";
import type { EndpointDeps } from "#mcp/endpoint.ts";
import { allowedForNetwork } from "#proc/environment.ts";
import { LINGER_MS, type LocalHosts, openLocalHosts } from "#session/local-host.ts";
import { openLocalToken } from "#store/local-token.ts";
import { openStore } from "#store/store.ts";
import { Config, readConfig } from "./config.ts";
import { openGateway } from "./gateway/open-gateway.ts";
import { checkExposure, DEFAULT_LISTEN, type ListenAddress, parseListen } from "./listen.ts";
import { openGatewayRecord } from "./page/gateway-record.ts";

export interface GatewayOptions {
  readonly dataDir: string;
  readonly version: string;
  /** How to run `reins`, for the host that it may have to start. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Come before the configuration file. */
  readonly flags: Config;
  /** Takes another port that is free when the one to listen on is not. */
  readonly isAnyPort?: boolean | undefined;
  /** Where the built page is; absent = in the package that this program is part of. */
  readonly pageFolder?: string | undefined;
  /** Overrides for tests. */
  readonly patience?: HttpServerOptions["patience"];
}

interface GatewayDaemon extends AsyncDisposable {
  readonly url: string;
  /** Where a browser finds the page. */
  readonly pageUrl: string;
  /** The port that was asked for and taken, when this is another. */
  readonly takenPort: number | undefined;
  /** Lets one browser in as the administrator of this machine, once and soon. */
  createTicket(): Promise<string>;
}

/** The gateway: everything that talks to the world. It holds no session; it may end at any time. */
export async function openGatewayDaemon(options: GatewayOptions): Promise<GatewayDaemon> {
  await using stack = new AsyncDisposableStack();
  const dir = openDataDir(options.dataDir);
  const config = { ...readConfig(join(dir.path, "config.yaml")), ...options.flags };
  const address = getAddress(config);
  const tls = config.tls === undefined ? undefined : readTls(config.tls);
  const log = stack.use(openFileLogger(join(dir.path, "gateway.log"), systemClock.now));
  const store = stack.use(openStore({ path: join(dir.path, "reins.db"), clock: systemClock, log }));
  const { secret } = openLocalToken(store, join(dir.path, "token"));
  let isStopping = false;
  const { command, env, version, patience } = options;
  const hosts = stack.use(openOwnHosts(dir, options, log));
  const gateway = stack.use(
    openGateway({
      store,
      hosts,
      dataDir: dir.path,
      sessionsFolder: dir.sessions,
      clock: systemClock,
      log,
      version,
      where: describeWhere(env, config),
      taskIdleMs: config.task_idle_timeout_ms ?? limits.task_idle_ms,
      shell: config.shell,
      defaultWaitMs: config.execute_wait_ms ?? limits.execute_wait_ms,
      isStopping: () => isStopping,
      command,
      keyEnv: env,
      parkAfterMs: config.agent_idle_ms,
      teams: {
        folder: join(dir.path, "teams"),
        named: config.teams ?? {},
        examples: findOwnFolder("examples"),
        roots: config.team_roots ?? [],
      },
    }),
  );
  const pageFolder = options.pageFolder ?? findOwnFolder("dist/web");
  const server = stack.use(
    await listen(address, options.isAnyPort === true, {
      gateway,
      clock: systemClock,
      log,
      mcp: createLazyMcp({ tools: gateway.tools, version, clock: systemClock, log }),
      page: pageFolder === undefined ? undefined : createPage(pageFolder),
      publicUrl: config.public_url,
      tls,
      ...defined({ patience }),
    }),
  );
  const pageUrl = config.public_url ?? describeHere(server.url);
  stack.use(openGatewayRecord(dir.path, pageUrl));
  log.info("gateway started", { pid: process.pid, version, url: server.url });
  stack.defer(() => {
    isStopping = true;
    log.info("gateway stops", { pid: process.pid });
  });
  const owned = stack.move();
  return {
    url: server.url,
    pageUrl,
    takenPort: [0, server.port].includes(address.port) ? undefined : address.port,
    createTicket: () => createTicket(gateway, secret),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function describeWhere(env: GatewayOptions["env"], { env_passthrough = [] }: Config): Where {
  return { env: allowedForNetwork(env, env_passthrough), work_dir: homedir(), umask: undefined };
}

function openOwnHosts(dir: DataDir, { command, env }: GatewayOptions, log: Logger): LocalHosts {
  const clock = systemClock;
  return openLocalHosts({
    open: () => openOwnHost({ dataDir: dir.path, command, env }),
    find: () => findHost(dir, env),
    sessionsFolder: dir.sessions,
    linger: { clock, ms: LINGER_MS },
    reconnect: { clock, log },
  });
}

/** A host that starts makes its data directory; one that was removed while this gateway ran stays removed. */
async function openOwnHost(options: StartOptions): Promise<HostClient> {
  const { dataDir } = options;
  if (existsSync(dataDir)) return await openHost(options);
  throw new Fault(
    "host_unavailable",
    `the data directory ${dataDir} was removed; start the server again to begin with an empty one`,
    { details: { data_dir: dataDir } },
  );
}

async function createTicket(gateway: Gateway, secret: string): Promise<string> {
  const caller = gateway.identify(secret);
  if (caller === undefined) throw new Fault("unauthenticated", "the local token was replaced");
  return (await gateway.operations(caller)["ticket.create"]({})).ticket;
}

type ServerParts = Omit<HttpServerOptions, keyof ListenAddress>;

async function listen(
  address: ListenAddress,
  isAnyPort: boolean,
  parts: ServerParts,
): Promise<HttpServer> {
  try {
    return await openHttpServer({ ...parts, ...address });
  } catch (error) {
    const isTaken = error instanceof Fault && isErrno(error.cause, "EADDRINUSE");
    if (!isAnyPort || !isTaken) throw error;
    return await openHttpServer({ ...parts, ...address, port: 0 });
  }
}

/** What came with this program. */
function findOwnFolder(name: string): string | undefined {
  const own = findOwnPackage();
  return own === undefined ? undefined : join(own.path, name);
}

/** Everywhere is also here, and here is an address that a browser can open. */
function describeHere(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

/** Loaded for the first who comes for it: it is large, and a gateway starts often. */
function createLazyMcp(deps: EndpointDeps): AnswerMcp {
  const open = openOnce(async () => {
    const { createMcpEndpoint } = await import("#mcp/endpoint.ts");
    return createMcpEndpoint(deps);
  });
  return async (request, visit) => (await open())(request, visit);
}

interface ServeFlags {
  readonly listen: string | undefined;
  readonly public_url: string | undefined;
  readonly tls_cert: string | undefined;
  readonly tls_key: string | undefined;
  readonly allow_insecure: boolean | undefined;
}

/** Flags are checked like the file, but named as they were typed. */
export function readFlags({ tls_cert, tls_key, ...rest }: ServeFlags): Config {
  if ((tls_cert === undefined) !== (tls_key === undefined))
    throw new Fault("invalid_request", "--tls-cert and --tls-key come together");
  const tls =
    tls_cert === undefined || tls_key === undefined
      ? undefined
      : { cert: resolve(tls_cert), key: resolve(tls_key) };
  const given = Object.entries({ ...rest, tls }).filter(([, value]) => value !== undefined);
  const parsed = Config.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const flag = String(issue?.path[0] ?? "").replaceAll("_", "-");
  throw new Fault("invalid_request", `--${flag}: ${issue?.message ?? "not valid"}`);
}

function getAddress({ listen = DEFAULT_LISTEN, tls, allow_insecure = false }: Config) {
  const address = parseListen(listen);
  if (address === undefined)
    throw new Fault(
      "invalid_request",
      `--listen: ${JSON.stringify(listen)} does not look like 127.0.0.1:7346`,
    );
  checkExposure(address, { isTls: tls !== undefined, isAllowed: allow_insecure });
  return address;
}

export function readTls({ cert, key }: NonNullable<Config["tls"]>) {
  try {
    const pair = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
    createSecureContext(pair);
    return pair;
  } catch (error) {
    const why = `${cert} and ${key} are no certificate and key for TLS: ${String(error)}`;
    throw new Fault("invalid_request", why, {
      cause: error,
    });
  }
}
