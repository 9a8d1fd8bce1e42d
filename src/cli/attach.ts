import { Fault } from "#contract/fault.ts";
import { openLocal } from "./context.ts";
import { parseOptions, parseSince, refuseWords } from "./options.ts";
import { runPiped } from "./piped.ts";
import { findTarget } from "./target.ts";
import { attachTerminal } from "./terminal/attached.ts";

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    takeover: { type: "boolean" },
    view: { type: "boolean" },
    since: { type: "string" },
  });
  refuseWords(positionals.slice(1));
  if (values.takeover === true && values.view === true) {
    throw new Fault("invalid_request", "--takeover and --view exclude each other");
  }
  const since = parseSince(values.since);
  using local = await openLocal();
  const session = await findTarget(local.operations, positionals[0]);
  const from = since === "tail" ? session.tail : since;
  if (session.mode === "pty" && process.stdin.isTTY && process.stdout.isTTY) {
    return await attachTerminal(local, session, {
      role: values.view === true ? "viewer" : "controller",
      takeover: values.takeover === true,
      since: from,
      isNew: false,
    });
  }
  return await runPiped(local, session, { since: from, json: false, forwardsInput: false });
}
