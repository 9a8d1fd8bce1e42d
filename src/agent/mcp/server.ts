import { join } from "node:path";
import type { Transport } from "@modelcontextprotocol/client";
import type { ToolsetConfig } from "#agent/team/team.ts";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { answerCutStreams } from "./cut-streams.ts";
import { StdioTransport } from "./stdio-transport.ts";
import { fillVariables } from "./variables.ts";

export type McpConfig = Extract<ToolsetConfig, { type: "mcp" }>;
export type McpSdk = typeof import("@modelcontextprotocol/client");

export interface McpDeps {
  /** Of the server's process, and what `${NAME}` stands for; no key is in it. */
  readonly env: Readonly<Record<string, string>>;
  readonly work_dir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
}

/** A server, as far as it matters how it is reached. */
export interface Server {
  readonly transport: Transport;
  /** How sentences call it; no secret is in it. */
  readonly label: string;
  /** What must not be shown. */
  readonly secrets: readonly string[];
  /** How its process ended, if it has one and it did. */
  readonly exit: () => string | undefined;
  /** The end of what its process printed to stderr. */
  readonly said: () => string;
  /** Ends it, or our part of it. Does not throw. */
  readonly close: () => Promise<void>;
}

/** Nobody waits longer for a server to hear that we leave. */
const GOODBYE_MS = 1000;

/** Starts nothing yet. */
export function createServer(config: McpConfig, deps: McpDeps, sdk: McpSdk): Server {
  const { server } = config;
  return server.kind === "stdio"
    ? createStdioServer(server, deps, sdk)
    : createHttpServer(server, deps, sdk);
}

type ServerOf<K extends McpConfig["server"]["kind"]> = Extract<McpConfig["server"], { kind: K }>;

function createStdioServer(config: ServerOf<"stdio">, deps: McpDeps, sdk: McpSdk): Server {
  const { command, args } = config;
  const { values, secrets } = fillVariables(config.env, deps.env);
  const cwd = inHome(config.work_dir ?? deps.work_dir, deps.env);
  const transport = new StdioTransport(
    { command, args, cwd, env: { ...deps.env, ...values } },
    { parse: sdk.deserializeMessage, clock: deps.clock },
  );
  return {
    transport,
    label: command,
    secrets,
    exit: () => transport.exit,
    said: () => transport.said,
    close: () => transport.close(),
  };
}

function createHttpServer(config: ServerOf<"http">, deps: McpDeps, sdk: McpSdk): Server {
  const url = new URL(config.url);
  const { values: headers, secrets } = fillVariables(config.headers, deps.env);
  const transport = new sdk.StreamableHTTPClientTransport(url, { requestInit: { headers } });
  answerCutStreams(transport);
  return {
    transport,
    // A secret may be in the rest.
    label: `${url.origin}${url.pathname}`,
    secrets,
    exit: () => undefined,
    said: () => "",
    close: async () => {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      using _timer = deps.clock.timer(GOODBYE_MS, resolve);
      // A server that is not there any more cannot be told.
      await Promise.race([transport.terminateSession().catch(() => undefined), late]);
      await transport.close();
    },
  };
}

function inHome(path: string, { HOME }: McpDeps["env"]): string {
  if (HOME === undefined || (path !== "~" && !path.startsWith("~/"))) return path;
  return join(HOME, path.slice(1));
}
