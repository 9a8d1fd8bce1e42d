import { exitCodeOf, sayFault } from "#cli/program/exit.ts";
import { parseOptions } from "#cli/program/options.ts";
import { openClient } from "#cli/target/open-client.ts";
import { findTarget } from "#cli/target/target.ts";
import { Fault } from "#contract/fault.ts";
import { defined } from "#contract/values/defined.ts";
import { describeState } from "./ps.ts";

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    reason: { type: "string" },
    purge: { type: "boolean" },
    to: { type: "string", multiple: true },
    remote: { type: "string" },
    json: { type: "boolean" },
  });
  // An empty word is a variable that was not set: it must not close whatever is the newest.
  const words = [...positionals, ...(values.to ?? [])];
  if (words.length === 0 || words.some((word) => word.trim() === ""))
    throw new Fault("invalid_request", "say which: reins close ID… (reins ps lists them)");
  await using client = await openClient({ remote: values.remote });
  const closeOne = async (word: string): Promise<number> => {
    try {
      const { session_id } = await findTarget(client, word);
      const session = await client.call("session.close", {
        session_id,
        ...defined({ reason: values.reason, purge: values.purge }),
      });
      const line =
        values.json === true
          ? JSON.stringify(session)
          : `${session_id} ${describeState(session.state)}`;
      process.stdout.write(`${line}\n`);
      return 0;
    } catch (error) {
      sayFault(error);
      return exitCodeOf(error);
    }
  };
  const codes = await Promise.all(words.map(closeOne));
  return codes.find((code) => code !== 0) ?? 0;
}
