import type { Writable } from "node:stream";
import { systemClock } from "#base/clock.ts";
import { openTarget } from "#cli/control/target-options.ts";
import { notice } from "#cli/program/exit.ts";

export interface ServedRun {
  readonly version: string;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Ends it, as the end of stdin does. */
  readonly signal: AbortSignal;
}

/** `reins serve mcp --attach`: one run as tools for one client on stdio. The run goes on when it ends. */
export async function serveRun(
  { version, stdin, stdout, stderr, signal }: ServedRun,
  where: { readonly to: string; readonly remote: string | undefined },
): Promise<void> {
  const [{ createRunServer }, { runMcpStdio }, { createStderrLogger }] = await Promise.all([
    import("#mcp/run/run-server.ts"),
    import("#mcp/stdio.ts"),
    import("#daemon/stderr-logger.ts"),
  ]);
  await using target = await openTarget(where);
  const { client, session } = target;
  notice(`serves ${session.session_id}`);
  const log = createStderrLogger(stderr);
  const deps = { run: { client, session }, version, clock: systemClock, log, signal };
  await runMcpStdio({ createServer: () => createRunServer(deps), log, signal }, { stdin, stdout });
}
