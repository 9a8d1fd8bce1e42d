import { countSessions } from "#cli/program/printable.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { findHost } from "#host/socket/start-host.ts";

export interface StopOptions {
  /** Ends what runs without a question. */
  readonly isSure: boolean;
  readonly json: boolean;
}

const DECLINED_EXIT = 1;

/** `reins host stop`: asks first at a terminal when sessions run; a script is not asked, as ever. */
export async function stopHost(dataDir: string, { isSure, json }: StopOptions): Promise<number> {
  using host = await findHost(locateDataDir(dataDir), process.env);
  if (host === undefined) {
    process.stderr.write("No host is running.\n");
    return 0;
  }
  const { live, pid } = await host.call("host.health", {});
  const isAsked = live > 0 && !isSure && process.stdin.isTTY && process.stderr.isTTY;
  if (
    isAsked &&
    !(await confirm(`Stopping the host ends ${countSessions(live)}. Stop it? [y/N] `))
  ) {
    process.stderr.write("The host was not stopped.\n");
    return DECLINED_EXIT;
  }
  await host.call("host.shutdown", {});
  // It answers before it has let go of its lock.
  await host.closed;
  if (json) process.stdout.write(`${JSON.stringify({ pid, ended: live })}\n`);
  else
    process.stderr.write(
      `The host was stopped${live === 0 ? "" : `, and ${countSessions(live)} ended`}.\n`,
    );
  return 0;
}

async function confirm(question: string): Promise<boolean> {
  const { createInterface } = await import("node:readline/promises");
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D are a no.
  const { promise: closed, resolve } = Promise.withResolvers<string>();
  asking.once("close", () => resolve(""));
  const answer = await Promise.race([asking.question(question), closed]);
  asking.close();
  return /^y(es)?$/i.test(answer.trim());
}
