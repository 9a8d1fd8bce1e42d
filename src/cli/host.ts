import { resolve } from "node:path";
import { Fault } from "#contract/fault.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { findHost } from "#host/start-host.ts";
import { withoutMarks } from "#proc/environment.ts";
import { findDataDir } from "./context.ts";
import { parseOptions, refuseWords } from "./options.ts";
import { version } from "./version.ts";

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    "data-dir": { type: "string" },
    json: { type: "boolean" },
  });
  const dataDir = resolve(values["data-dir"] ?? findDataDir());
  const [action, ...others] = positionals;
  refuseWords(others);
  if (action === undefined) return await serve(dataDir);
  if (action === "status") return await status(dataDir, values.json === true);
  if (action === "stop") return await stop(dataDir);
  throw new Fault("invalid_request", `there is no reins host ${action}; status and stop are`);
}

async function serve(dataDir: string): Promise<number> {
  leaveSession(dataDir);
  process.chdir("/");
  const { runHost } = await import("#daemon/host.ts");
  return await runHost({ dataDir, version: version() });
}

/** Started by hand inside a session: the kernel shows our first environment for ever, so we start once more without. */
function leaveSession(dataDir: string): void {
  if (process.env.REINS_SESSION_ID === undefined || process.execve === undefined) return;
  const again = [process.execPath, process.argv[1] ?? "", "host", "--data-dir", dataDir];
  process.execve(process.execPath, again, withoutMarks(process.env));
}

async function status(dataDir: string, asJson: boolean): Promise<number> {
  using host = await findHost(locateDataDir(dataDir));
  if (host === undefined) {
    process.stderr.write("No host is running; the next command starts one.\n");
    return 0;
  }
  const health = await host.call("host.health", {});
  const lines = Object.entries(health).map(
    ([name, value]) => `${name.padEnd(18)}${String(value)}\n`,
  );
  process.stdout.write(asJson ? `${JSON.stringify(health)}\n` : lines.join(""));
  return 0;
}

async function stop(dataDir: string): Promise<number> {
  using host = await findHost(locateDataDir(dataDir));
  if (host === undefined) return 0;
  await host.call("host.shutdown", {});
  // It answers before it has let go of its lock.
  await host.closed;
  return 0;
}
