import { findDataDir, ownCommand } from "#cli/program/context.ts";
import { parseOptions, refuseWords } from "#cli/program/options.ts";
import { version } from "#cli/program/version.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { guardMemory } from "#proc/platform/guard-memory.ts";

/** A worker: started by the host, for one life of an agent session. */
export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, { "park-after": { type: "string" } });
  refuseWords(positionals);
  const session_id = process.env.REINS_SESSION_ID;
  if (session_id === undefined)
    throw new Fault(
      "invalid_request",
      "reins agent is started by the host; use reins run TEAM.yaml",
    );
  // Before the first line, in which the keys are.
  await guardMemory(process.env);
  const closing = new AbortController();
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => closing.abort());
  // What a person means by it comes as a request.
  process.on("SIGINT", () => undefined);
  const { runWorker } = await import("#daemon/agent.ts");
  const code = await runWorker({
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    dataDir: findDataDir(),
    session_id,
    version: version(),
    command: ownCommand(),
    env: process.env,
    umask: process.umask(),
    parkAfterMs: parseMs(values["park-after"]),
    signal: closing.signal,
  });
  // Open sockets and threads are of no use any more.
  process.exit(code);
}

function parseMs(text: string | undefined): number {
  if (text === undefined) return limits.agent_idle_ms;
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new Fault(
    "invalid_request",
    `--park-after: ${JSON.stringify(text)} is no number of milliseconds`,
  );
}
