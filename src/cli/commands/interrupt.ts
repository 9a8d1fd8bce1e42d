import { openTarget, printJson, targetOptions } from "#cli/control/target-options.ts";
import { notice } from "#cli/program/exit.ts";
import { parseOptions, refuseWords } from "#cli/program/options.ts";
import { Fault } from "#contract/fault.ts";

/** `reins interrupt`: what runs in the session stops, the session stays. */
export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, targetOptions);
  const [word = values.to, ...rest] = positionals;
  refuseWords(rest);
  await using target = await openTarget({ ...values, to: word });
  const { session_id } = target.session;
  const { signalled } = await target.client.call("session.interrupt", { session_id });
  if (signalled === 0)
    throw new Fault("nothing_running", `nothing runs in ${session_id} that could be interrupted`);
  if (values.json === true) printJson({ session_id, signalled });
  notice(`interrupted ${session_id}`);
  return 0;
}
