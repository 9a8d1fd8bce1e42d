import { openTarget, printJson, targetOptions } from "#cli/control/target-options.ts";
import { notice } from "#cli/program/exit.ts";
import { parseOptions, refuseWords } from "#cli/program/options.ts";
import { Fault } from "#contract/fault.ts";
import { createBackend } from "#contract/runtime/create-backend.ts";

/** `reins fork`: another session that begins as this one did. */
export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, { ...targetOptions, at: { type: "string" } });
  const [word = values.to, ...rest] = positionals;
  refuseWords(rest);
  const wanted = parseCount(values.at);
  await using target = await openTarget({ ...values, to: word });
  const { session_id: from } = target.session;
  await using runtime = await createBackend(target.client).open(from);
  const at = wanted ?? (await runtime.transcript({ limit: 1 })).total;
  const session_id = await runtime.fork(at);
  if (values.json === true) printJson({ session_id, from, at });
  else process.stdout.write(`${session_id}\n`);
  notice(`${session_id} begins with ${at} messages of ${from}`);
  return 0;
}

function parseCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(count)) return count;
  throw new Fault(
    "invalid_request",
    `--at: ${JSON.stringify(text)} is not how many messages the new session begins with`,
  );
}
