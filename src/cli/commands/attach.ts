import { parseOptions, parseSince, refuseWords } from "#cli/program/options.ts";
import { openClient } from "#cli/target/open-client.ts";
import { findTarget } from "#cli/target/target.ts";
import { attachTerminal } from "#cli/terminal/attached.ts";
import { runPiped } from "#cli/terminal/piped.ts";
import { Fault } from "#contract/fault.ts";

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    takeover: { type: "boolean" },
    view: { type: "boolean" },
    since: { type: "string" },
    to: { type: "string" },
    remote: { type: "string" },
  });
  refuseWords(positionals.slice(1));
  if (values.takeover === true && values.view === true) {
    throw new Fault("invalid_request", "--takeover and --view exclude each other");
  }
  const since = parseSince(values.since);
  const word = positionals[0] ?? values.to;
  const isViewer = values.view === true;
  const takeover = values.takeover === true;
  await using client = await openClient({ to: word, remote: values.remote, attaches: true });
  const session = await findTarget(client, word, { isFollowed: true });
  if (session.kind === "agent") {
    const { chatWith } = await import("#cli/chat-view/chat-with.ts");
    return await chatWith(client, session, { isViewer });
  }
  const from = since === "tail" ? session.tail : since;
  if (session.mode === "pty" && process.stdin.isTTY && process.stdout.isTTY) {
    const role = isViewer ? "viewer" : "controller";
    return await attachTerminal(client, session, { role, takeover, since: from, isNew: false });
  }
  return await runPiped(client, session, {
    ...{ since: from, json: false, forwardsInput: false, isViewer },
  });
}
