import { openTarget, targetOptions } from "#cli/control/target-options.ts";
import { parseOptions, refuseWords } from "#cli/program/options.ts";
import { printable } from "#cli/program/printable.ts";
import { writeTo } from "#cli/terminal/output-writer.ts";
import { Fault } from "#contract/fault.ts";
import type { OperationOutput } from "#contract/operations.ts";
import { defined } from "#contract/values/defined.ts";

/** `reins screen`: what stands on a terminal now, or stood there. */
export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, { ...targetOptions, at: { type: "string" } });
  const [word = values.to, ...rest] = positionals;
  refuseWords(rest);
  const at = parseOffset(values.at);
  await using target = await openTarget({ ...values, to: word });
  const { session_id } = target.session;
  const asked = { session_id, ...defined({ at }) };
  const screen = await target.client.call("session.screen", asked);
  const text =
    values.json === true ? `${JSON.stringify({ session_id, ...screen })}\n` : draw(screen);
  await writeTo(process.stdout, Buffer.from(text));
  return 0;
}

function parseOffset(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const offset = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(offset)) return offset;
  throw new Fault("invalid_request", `--at: ${JSON.stringify(text)} is no offset`);
}

/** Without the empty lines below the last one that says something. */
function draw(screen: OperationOutput<"session.screen">): string {
  const lines = ("lines" in screen ? screen.lines : []).map((line) => printable(line).trimEnd());
  const last = lines.findLastIndex((line) => line !== "");
  return lines
    .slice(0, last + 1)
    .map((line) => `${line}\n`)
    .join("");
}
