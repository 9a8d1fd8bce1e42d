import { parseTime } from "#cli/control/parse-time.ts";
import { parseOptions } from "#cli/program/options.ts";
import { openClient } from "#cli/target/open-client.ts";
import { findTarget } from "#cli/target/target.ts";
import { Fault } from "#contract/fault.ts";
import { findSignal } from "#contract/signals.ts";
import type { ToolSignal } from "#contract/tools/process.ts";
import { systemNames } from "#tools/process/signal.ts";

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    "escalate-after": { type: "string" },
    remote: { type: "string" },
    json: { type: "boolean" },
  });
  const [word = "", name = "", ...others] = positionals;
  // An empty word is a variable that was not set: it must not end whatever is the newest.
  if (word.trim() === "" || name.trim() === "" || others.length > 0)
    throw new Fault("invalid_request", "say which and what: reins signal ID SIGNAL");
  const signal = getToolSignal(name);
  const escalateMs = parseTime(values["escalate-after"], "escalate-after");
  await using client = await openClient({ to: word, remote: values.remote });
  const { session_id, kind } = await findTarget(client, word);
  if (kind === "agent")
    throw new Fault(
      "unsupported",
      `${session_id} is an agent, and agents take no signals. Stop its turn with: reins interrupt ${session_id}. End it with: reins close ${session_id}`,
    );
  const result = await client.call("process.signal", {
    process_id: session_id,
    signal,
    ...(escalateMs === undefined ? {} : { escalate_after: `${escalateMs}ms` }),
  });
  const line = values.json === true ? JSON.stringify(result) : `${session_id} ${result.message}`;
  process.stdout.write(`${line}\n`);
  return result.success ? 0 : 1;
}

/** By the tool's name or the system's: `terminate`, `TERM`, `SIGTERM`. */
function getToolSignal(name: string): ToolSignal {
  // The keys of the table are the tool's signals.
  const known = Object.keys(systemNames) as ToolSignal[];
  const system = findSignal(name);
  const found = known.find((key) => key === name || systemNames[key] === system);
  if (found !== undefined) return found;
  throw new Fault(
    "invalid_request",
    `${JSON.stringify(name)} cannot be sent; known are ${Object.values(systemNames).join(", ")}`,
  );
}
