import { runPiped } from "#cli/piped.ts";
import { chatWith, needsTerminal } from "#cli/place/chat-with.ts";
import { openRemotePlace } from "#cli/place/place.ts";
import { findTarget } from "#cli/place/target.ts";
import { attachTerminal } from "#cli/terminal/attached.ts";

export interface RemoteAttach {
  readonly remote: string;
  readonly token?: string | undefined;
  readonly word: string | undefined;
  readonly since: number | "tail" | undefined;
  readonly isViewer: boolean;
  readonly takeover: boolean;
}

/** `reins attach --remote`: as on this machine, whatever it is. */
export async function attachThere(wanted: RemoteAttach): Promise<number> {
  const { isViewer, takeover } = wanted;
  await using place = await openRemotePlace(wanted);
  const session = await findTarget(place, wanted.word, { isFollowed: true });
  if (session.kind === "agent") {
    const { canChat } = await import("#cli/chat/chat.ts");
    if (canChat()) return await chatWith(place, session, { isViewer });
    throw needsTerminal(session.session_id);
  }
  const since = wanted.since === "tail" ? session.tail : wanted.since;
  if (session.mode === "pty" && process.stdin.isTTY && process.stdout.isTTY) {
    const role = isViewer ? "viewer" : "controller";
    return await attachTerminal(place, session, { role, takeover, since, isNew: false });
  }
  const piped = { since, json: false, forwardsInput: false, isViewer };
  return await runPiped(place, session, piped);
}
