import { Fault } from "#contract/fault.ts";
import { openLocal } from "./context.ts";
import { exitCodeOf, sayFault } from "./exit.ts";
import { parseOptions } from "./options.ts";
import { describeState } from "./ps.ts";
import { findTarget } from "./target.ts";

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    reason: { type: "string" },
    purge: { type: "boolean" },
    json: { type: "boolean" },
  });
  // An empty word is a variable that was not set: it must not close whatever is the newest.
  if (positionals.length === 0 || positionals.some((word) => word.trim() === ""))
    throw new Fault("invalid_request", "say which: reins close ID… (reins ps lists them)");
  using local = await openLocal();
  const closeOne = async (word: string): Promise<number> => {
    try {
      const { session_id } = await findTarget(local.operations, word);
      const session = await local.operations["session.close"]({
        session_id,
        ...(values.reason === undefined ? {} : { reason: values.reason }),
        ...(values.purge === undefined ? {} : { purge: values.purge }),
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
  const codes = await Promise.all(positionals.map(closeOne));
  return codes.find((code) => code !== 0) ?? 0;
}
