import { resolve } from "node:path";
import { addressOfPage } from "#cli/admin/page-address.ts";
import { describeStart } from "#cli/admin/serve-words.ts";
import { describeCaller, findDataDir, ownCommand } from "#cli/program/context.ts";
import { parseOptions, refuseWords } from "#cli/program/options.ts";
import { version } from "#cli/program/version.ts";
import { takeStdout } from "#cli/proto/take-stdout.ts";
import { Fault } from "#contract/fault.ts";
import { guardMemory, takeEnvironment } from "#proc/platform/guard-memory.ts";

/** Serves until it is told to stop; the sessions go on without it. */
export async function run(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  return first === "mcp" ? await serveMcp(rest) : await serveHttp(argv);
}

/** Until the client closes stdin. Stdout is the protocol's. */
async function serveMcp(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(nameLatest(argv), mcpOptions);
  const [team, ...rest] = positionals;
  refuseWords(rest);
  checkMcp(values, team);
  await guardMemory(process.env);
  const stopping = new AbortController();
  void onStop().then(() => stopping.abort());
  const options = {
    dataDir: dataDirOf(values),
    version: version(),
    command: ownCommand(),
    env: process.env,
    caller: describeCaller(),
    signal: stopping.signal,
    stdin: process.stdin,
    stdout: takeStdout(),
    stderr: process.stderr,
  };
  const { attach: to, remote } = values;
  if (to !== undefined) {
    const { serveRun } = await import("#cli/proto/serve-run.ts");
    await serveRun(options, { to, remote });
    return 0;
  }
  if (team !== undefined) {
    const { serveTeam } = await import("#cli/team/serve-team.ts");
    await serveTeam(options, { team, agents: values.agent ?? [] });
    return 0;
  }
  const { runMcp } = await import("#daemon/mcp.ts");
  await runMcp({ ...options, owner: values.owner });
  return 0;
}

const mcpOptions = {
  owner: { type: "string" },
  agent: { type: "string", multiple: true },
  attach: { type: "string" },
  remote: { type: "string" },
  "data-dir": { type: "string" },
} as const;

type McpValues = ReturnType<typeof parseOptions<typeof mcpOptions>>["values"];

/** `--attach` may stand alone, and then it is the newest run; an option's value may not be left out otherwise. */
function nameLatest(argv: readonly string[]): string[] {
  return argv.map((word) => (word === "--attach" ? "--attach=latest" : word));
}

/** Each of the three kinds of server has options that say nothing to the others. */
function checkMcp(values: McpValues, team: string | undefined): void {
  const { attach, owner, agent, remote } = values;
  const refuse = (sentence: string) => new Fault("invalid_request", sentence);
  if (attach !== undefined && team !== undefined)
    throw refuse("--attach serves one run and no team; a run is named by --attach=TARGET");
  if (attach !== undefined && owner !== undefined)
    throw refuse("--owner is for the tools of Reins; leave it away with --attach");
  if (attach !== undefined && values["data-dir"] !== undefined)
    throw refuse("--attach looks where REINS_HOME says; leave --data-dir away");
  if (attach === undefined && remote !== undefined)
    throw refuse("--remote is for a run there: reins serve mcp --attach --remote URL");
  if (team === undefined && agent !== undefined)
    throw refuse("--agent is for a team: reins serve mcp TEAM --agent NAME");
  if (team !== undefined && owner !== undefined)
    throw refuse("--owner is for the tools of Reins; a team's agents own what they start");
}

async function serveHttp(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    listen: { type: "string" },
    "public-url": { type: "string" },
    "tls-cert": { type: "string" },
    "tls-key": { type: "string" },
    "allow-insecure": { type: "boolean" },
    "data-dir": { type: "string" },
    json: { type: "boolean" },
    "any-port": { type: "boolean" },
    // Not for people: a page that was built elsewhere.
    "page-dir": { type: "string" },
    // Not for people: one session alone, see target/start-listener.ts.
    only: { type: "string" },
  });
  refuseWords(positionals);
  if (values.only !== undefined) return await serveOnly(values.only, values);
  const env = await takeEnvironment(process.env);
  const { openGatewayDaemon, readFlags } = await import("#daemon/gateway.ts");
  const stopped = onStop();
  const dataDir = dataDirOf(values);
  await using gateway = await openGatewayDaemon({
    dataDir,
    version: version(),
    command: ownCommand(),
    env,
    isAnyPort: values["any-port"],
    pageFolder: values["page-dir"] === undefined ? undefined : resolve(values["page-dir"]),
    flags: readFlags({
      listen: values.listen,
      public_url: values["public-url"],
      tls_cert: values["tls-cert"],
      tls_key: values["tls-key"],
      allow_insecure: values["allow-insecure"],
    }),
  });
  const { url, pageUrl, takenPort } = gateway;
  process.stdout.write(
    values.json === true
      ? `${JSON.stringify({ listening: url, pid: process.pid })}\n`
      : describeStart({
          ...{ url, takenPort, dataDir, isTerminal: process.stdout.isTTY },
          address: addressOfPage(pageUrl, await gateway.createTicket()),
        }),
  );
  await stopped;
  return 0;
}

interface OnlyFlags {
  readonly listen?: string | undefined;
  readonly "tls-cert"?: string | undefined;
  readonly "tls-key"?: string | undefined;
  readonly "allow-insecure"?: boolean | undefined;
  readonly "data-dir"?: string | undefined;
}

async function serveOnly(only: string, flags: OnlyFlags): Promise<number> {
  const { listen, "tls-cert": tls_cert, "tls-key": tls_key, "allow-insecure": isAllowed } = flags;
  if (listen === undefined)
    throw new Fault("invalid_request", "--only: say where, by --listen HOST:PORT or a path");
  const env = await takeEnvironment(process.env);
  const [{ serveRun }, { readFlags }] = await Promise.all([
    import("#daemon/run/serve-run.ts"),
    import("#daemon/gateway.ts"),
  ]);
  const unset = { listen: undefined, public_url: undefined, allow_insecure: undefined };
  return await serveRun({
    dataDir: dataDirOf(flags),
    version: version(),
    command: ownCommand(),
    env,
    ...{ only, listen, allowInsecure: isAllowed },
    tls: () => readFlags({ ...unset, tls_cert, tls_key }).tls,
    stdin: process.stdin,
    say: (line) => process.stdout.write(`${JSON.stringify(line)}\n`),
    stopped: onStop(),
  });
}

function dataDirOf({ "data-dir": named }: { readonly "data-dir"?: string | undefined }): string {
  return named === undefined ? findDataDir() : resolve(named);
}

/** The first asks to stop; by the second the process ends as it would by itself. */
function onStop(): Promise<void> {
  const { promise, resolve: stop } = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => stop());
  return promise;
}
