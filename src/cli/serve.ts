import { resolve } from "node:path";
import { findDataDir, ownCommand } from "./context.ts";
import { parseOptions, refuseWords } from "./options.ts";
import { version } from "./version.ts";

/** Serves until it is told to stop; the sessions go on without it. */
export async function run(argv: readonly string[]): Promise<number> {
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
    dataDir: values["data-dir"] === undefined ? findDataDir() : resolve(values["data-dir"]),
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

/** The first asks to stop; by the second the process ends as it would by itself. */
function onStop(): Promise<void> {
  const { promise, resolve: stop } = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => stop());
  return promise;
}
