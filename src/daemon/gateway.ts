import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { openGateway } from "#app/gateway.ts";
import { systemClock } from "#base/clock.ts";
import { openFileLogger } from "#base/logger.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { openDataDir } from "#host/data-dir.ts";
import { findHost, openHost } from "#host/start-host.ts";
import type { AnswerMcp } from "#http/mcp.ts";
import { type HttpServer, type HttpServerOptions, openHttpServer } from "#http/server.ts";
import type { EndpointDeps } from "#mcp/endpoint.ts";
import { allowedForNetwork } from "#proc/environment.ts";
import { openLocalToken } from "#store/local-token.ts";
import { openStore } from "#store/store.ts";
import { Config, readConfig } from "./config.ts";
import { checkExposure, DEFAULT_LISTEN, parseListen } from "./listen.ts";

export interface GatewayOptions {
  readonly dataDir: string;
  readonly version: string;
  /** How to run `reins`, for the host that it may have to start. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Come before the configuration file. */
  readonly flags: Config;
  /** Overrides for tests. */
  readonly patience?: HttpServerOptions["patience"];
}

export interface GatewayDaemon extends AsyncDisposable {
  readonly url: string;
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
  openLocalToken(store, join(dir.path, "token"));
  let isStopping = false;
  const { command, env, version, patience } = options;
  const gateway = stack.use(
    openGateway({
      store,
      openHost: () => openHost({ dataDir: dir.path, command, env }),
      findHost: () => findHost(dir),
      dataDir: dir.path,
      sessionsFolder: dir.sessions,
      clock: systemClock,
      log,
      version,
      env: allowedForNetwork(env, config.env_passthrough ?? []),
      home: homedir(),
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
        roots: config.team_roots ?? [],
      },
    }),
  );
  const server: HttpServer = stack.use(
    await openHttpServer({
      ...address,
      gateway,
      clock: systemClock,
      log,
      mcp: createLazyMcp({ tools: gateway.tools, version, clock: systemClock, log }),
      publicUrl: config.public_url,
      tls,
      ...(patience === undefined ? {} : { patience }),
    }),
  );
  log.info("gateway started", { pid: process.pid, version, url: server.url });
  stack.defer(() => {
    isStopping = true;
    log.info("gateway stops", { pid: process.pid });
  });
  const owned = stack.move();
  return { url: server.url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Loaded for the first who comes for it: it is large, and a gateway starts often. */
function createLazyMcp(deps: EndpointDeps): AnswerMcp {
  let endpoint: Promise<AnswerMcp> | undefined;
  return async (request, visit) => {
    endpoint ??= import("#mcp/endpoint.ts").then(({ createMcpEndpoint }) =>
      createMcpEndpoint(deps),
    );
    return (await endpoint)(request, visit);
  };
}

export interface ServeFlags {
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
