import { openLocal } from "#cli/context.ts";
import { notice } from "#cli/exit.ts";
import { parseOptions } from "#cli/options.ts";
import { LATE_EXIT } from "#cli/piped.ts";
import { createTargetPlace, findTarget } from "#cli/place/target.ts";
import { printableJson } from "#cli/printable.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { openLocalTools, parseTime } from "./local-tools.ts";

/** Undefined for an agent: it is not a process, and the end of its session is waited for instead. */
export async function waitForProcess(argv: readonly string[]): Promise<number | undefined> {
  const { values, positionals } = parseOptions(argv, {
    timeout: { type: "string" },
    json: { type: "boolean" },
  });
  const [word, ...others] = positionals;
  if (word === undefined || word.trim() === "" || others.length > 0)
    throw new Fault("invalid_request", "say which: reins wait ID (reins ps lists them)");
  const timeout = parseTime(values.timeout, "timeout") ?? limits.duration_ms;
  using local = await openLocal();
  using tools = openLocalTools(local);
  const { session_id, kind } = await findTarget(createTargetPlace(local.operations), word);
  if (kind === "agent") return undefined;
  const result = await tools.process_wait({ process_id: session_id, timeout });
  if (values.json === true) process.stdout.write(`${printableJson(result)}\n`);
  else if (result.running) notice(`${session_id} is still running`);
  else if (result.error !== undefined) notice(result.error);
  return result.running ? LATE_EXIT : (result.exit_code ?? 1);
}
