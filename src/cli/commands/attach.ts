import { openLocal } from "#cli/context.ts";
import { parseOptions, parseSince, refuseWords } from "#cli/options.ts";
import { runPiped } from "#cli/piped.ts";
import { chatWith, needsTerminal, type Viewing } from "#cli/place/chat-with.ts";
import { choosePlace } from "#cli/place/records.ts";
import { createTargetPlace, findTarget } from "#cli/place/target.ts";
import { attachTerminal } from "#cli/terminal/attached.ts";
import { createLocalClient } from "#cli/terminal/local-client.ts";
import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";

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
  const { remote, token } = choosePlace({ to: word, remote: values.remote });
  if (remote !== undefined) {
    const { attachThere } = await import("#cli/remote/attach.ts");
    return await attachThere({ remote, token, word, since, isViewer, takeover });
  }
  using local = await openLocal();
  const session = await findTarget(createTargetPlace(local.operations), word, {
    isFollowed: true,
  });
  if (session.kind === "agent") {
    const { canChat } = await import("#cli/chat/chat.ts");
    if (canChat()) return await attachAgent(session, { isViewer });
    throw needsTerminal(session.session_id);
  }
  const from = since === "tail" ? session.tail : since;
  if (session.mode === "pty" && process.stdin.isTTY && process.stdout.isTTY) {
    return await attachTerminal(createLocalClient(local), session, {
      role: isViewer ? "viewer" : "controller",
      takeover,
      since: from,
      isNew: false,
    });
  }
  const piped = { since: from, json: false, forwardsInput: false, isViewer };
  return await runPiped(createLocalClient(local), session, piped);
}

async function attachAgent(session: Session, viewing: Viewing): Promise<number> {
  const { openPlace } = await import("#cli/place/place.ts");
  await using place = await openPlace();
  return await chatWith(place, session, viewing);
}
