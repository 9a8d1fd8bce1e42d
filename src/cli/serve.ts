import { resolve } from "node:path";
import { Writable } from "node:stream";
import { describeCaller, findDataDir, ownCommand } from "./context.ts";
import { parseOptions, refuseWords } from "./options.ts";
import { version } from "./version.ts";

/** Serves until it is told to stop; the sessions go on without it. */
export async function run(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  return first === "mcp" ? await serveMcp(rest) : await serveHttp(argv);
}

/** Until the client closes stdin. Stdout is the protocol's. */
async function serveMcp(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    owner: { type: "string" },
    "data-dir": { type: "string" },
  });
  refuseWords(positionals);
  const stdout = takeStdout();
  const { runMcp } = await import("#daemon/mcp.ts");
  const stopping = new AbortController();
  void onStop().then(() => stopping.abort());
  await runMcp({
    dataDir: dataDirOf(values),
    version: version(),
    command: ownCommand(),
    env: process.env,
    caller: describeCaller(),
    owner: values.owner,
    signal: stopping.signal,
    stdin: process.stdin,
    stdout,
    stderr: process.stderr,
  });
  return 0;
}

/**
 * From now on stdout is the protocol's: what anything else in this process prints there goes to stderr, because one
 * stray line would end the conversation.
 */
function takeStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return new Writable({
    write: (chunk: Buffer, encoding, done) => void write(chunk, encoding, done),
  });
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
  });
  refuseWords(positionals);
  const { openGatewayDaemon, readFlags } = await import("#daemon/gateway.ts");
  const stopped = onStop();
  await using gateway = await openGatewayDaemon({
    dataDir: dataDirOf(values),
    version: version(),
    command: ownCommand(),
    env: process.env,
    flags: readFlags({
      listen: values.listen,
      public_url: values["public-url"],
      tls_cert: values["tls-cert"],
      tls_key: values["tls-key"],
      allow_insecure: values["allow-insecure"],
    }),
  });
  const { url } = gateway;
  process.stdout.write(
    values.json === true
      ? `${JSON.stringify({ listening: url, pid: process.pid })}\n`
      : `reins listens on ${url}\nCtrl-C stops it; what runs goes on.\n`,
  );
  await stopped;
  return 0;
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
