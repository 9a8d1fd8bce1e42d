import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import { openLocal } from "./context.ts";
import { parseOptions, parseSince, refuseWords } from "./options.ts";
import { runPiped } from "./piped.ts";
import type { Place } from "./place/place.ts";
import { createTargetPlace, findTarget } from "./place/target.ts";
import { attachTerminal } from "./terminal/attached.ts";

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
  if (values.remote !== undefined) return await attachThere(values.remote, word, { isViewer });
  using local = await openLocal();
  const session = await findTarget(createTargetPlace(local.operations), word);
  if (session.kind === "agent") {
    const { canChat } = await import("./chat/chat.ts");
    if (canChat()) return await attachAgent(session, { isViewer });
  }
  const from = since === "tail" ? session.tail : since;
  if (session.mode === "pty" && process.stdin.isTTY && process.stdout.isTTY) {
    return await attachTerminal(local, session, {
      role: isViewer ? "viewer" : "controller",
      takeover: values.takeover === true,
      since: from,
      isNew: false,
    });
  }
  return await runPiped(local, session, { since: from, json: false, forwardsInput: false });
}

interface Viewing {
  readonly isViewer: boolean;
}

async function attachAgent(session: Session, viewing: Viewing): Promise<number> {
  const { openPlace } = await import("./place/place.ts");
  await using place = await openPlace();
  return await chatWith(place, session, viewing);
}

/** A terminal that a server has is seen in a browser; what is talked to is talked to from here as well. */
async function attachThere(
  remote: string,
  word: string | undefined,
  viewing: Viewing,
): Promise<number> {
  const [{ openPlace }, { canChat }] = await Promise.all([
    import("./place/place.ts"),
    import("./chat/chat.ts"),
  ]);
  await using place = await openPlace({ remote });
  const session = await findTarget(place, word);
  if (session.kind === "agent" && canChat()) return await chatWith(place, session, viewing);
  const why =
    session.kind === "agent" ? "it needs a terminal" : `${session.session_id} is no agent`;
  throw new Fault(
    "unsupported",
    `with --remote only an agent is attached to, in a terminal: ${why}; reins watch and reins send reach it`,
  );
}

/** An agent is not typed into but talked to. */
async function chatWith(place: Place, session: Session, viewing: Viewing): Promise<number> {
  const { runChat } = await import("./chat/chat.ts");
  await using runtime = await place.runtime(session.session_id);
  const listSessions = async () => (await place.call("session.list", { state: "live" })).sessions;
  return await runChat({ runtime, listSessions, state: session.state, ...viewing });
}
