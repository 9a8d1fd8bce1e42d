import { resolve } from "node:path";
import { findDataDir, ownCommand } from "#cli/program/context.ts";
import { parseOptions, refuseWords } from "#cli/program/options.ts";
import { countSessions } from "#cli/program/printable.ts";
import { version } from "#cli/program/version.ts";
import { Fault } from "#contract/fault.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { findHost } from "#host/socket/start-host.ts";
import { withoutMarks } from "#proc/environment.ts";
import { takeEnvironment } from "#proc/platform/guard-memory.ts";

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    "data-dir": { type: "string" },
    json: { type: "boolean" },
    yes: { type: "boolean", short: "y" },
  });
  const dataDir = resolve(values["data-dir"] ?? findDataDir());
  const [action, ...others] = positionals;
  refuseWords(others);
  if (action === undefined) return await serve(dataDir);
  if (action === "status") return await status(dataDir, values.json === true);
  if (action === "stop") {
    const { stopHost } = await import("#cli/admin/stop-host.ts");
    return await stopHost(dataDir, { isSure: values.yes === true, json: values.json === true });
  }
  if (action === "upgrade") return await upgrade(dataDir, values.json === true);
  if (action === "check-upgrade") return await checkUpgrade(dataDir);
  throw new Fault(
    "invalid_request",
    `there is no reins host ${action}; status, stop and upgrade are`,
  );
}

async function serve(dataDir: string): Promise<number> {
  leaveSession(dataDir);
  process.chdir("/");
  // Also when this program has just taken the place of another one: an exec undoes it.
  await takeEnvironment(process.env);
  const { runHost } = await import("#daemon/host.ts");
  const env = withoutMarks(process.env);
  return await runHost({ dataDir, version: version(), started: { command: ownCommand(), env } });
}

/** Started by hand inside a session: the kernel shows our first environment for ever, so we start once more without. */
function leaveSession(dataDir: string): void {
  if (process.env.REINS_SESSION_ID === undefined || process.execve === undefined) return;
  const again = [process.execPath, process.argv[1] ?? "", "host", "--data-dir", dataDir];
  process.execve(process.execPath, again, withoutMarks(process.env));
}

async function status(dataDir: string, asJson: boolean): Promise<number> {
  using host = await findHost(locateDataDir(dataDir), process.env);
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

/** This very program takes the running host's place; its sessions and everybody at them go on. */
async function upgrade(dataDir: string, asJson: boolean): Promise<number> {
  using host = await findHost(locateDataDir(dataDir), process.env);
  if (host === undefined) {
    process.stderr.write("No host is running; the next command starts one of this version.\n");
    return 0;
  }
  const { features, version: running } = host.hello;
  if (!features.includes("upgrade"))
    throw new Fault(
      "unsupported",
      `the running host is reins ${running}, which cannot be upgraded while it runs; end its sessions, then: reins host stop`,
      { details: { version: running } },
    );
  const done = await host.call("host.upgrade", { command: ownCommand() });
  const { pid, live, from_version } = done;
  const sessions = countSessions(live);
  process.stdout.write(
    asJson
      ? `${JSON.stringify(done)}\n`
      : `The host ${pid} was reins ${from_version} and is reins ${done.version} now; ${sessions} went on.\n`,
  );
  return 0;
}

/** Asked by a host before this program takes its place: says what it can read, having tried what a host needs. */
async function checkUpgrade(dataDir: string): Promise<number> {
  const { describeProgram } = await import("#daemon/host.ts");
  process.stdout.write(`${JSON.stringify(await describeProgram(dataDir, version()))}\n`);
  return 0;
}
