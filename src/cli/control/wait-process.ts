import { notice } from "#cli/program/exit.ts";
import { printableJson } from "#cli/program/printable.ts";
import { LATE_EXIT } from "#cli/terminal/piped.ts";
import type { Target } from "./target-options.ts";

interface ProcessWait {
  readonly timeout: number;
  readonly json: boolean;
}

/** For the end of a process: the answer that the tools for models give. */
export async function waitForProcess(
  { client, session: { session_id } }: Pick<Target, "client" | "session">,
  { timeout, json }: ProcessWait,
): Promise<number> {
  const result = await client.call("process.wait", {
    process_id: session_id,
    timeout: `${timeout}ms`,
  });
  if (json) process.stdout.write(`${printableJson(result)}\n`);
  else if (result.running) notice(`${session_id} is still running`);
  else if (result.error !== undefined) notice(result.error);
  return result.running ? LATE_EXIT : (result.exit_code ?? 1);
}
