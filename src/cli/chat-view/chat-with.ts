import { nameThere } from "#cli/target/open-client.ts";
import type { Client } from "#client/client.ts";
import { Fault } from "#contract/fault.ts";
import { createBackend } from "#contract/runtime/create-backend.ts";
import type { Session } from "#contract/session.ts";
import { canChat, runChat } from "./chat.ts";

/** The chat view of an agent session, at this terminal. */
export async function chatWith(
  client: Client,
  session: Session,
  viewing: { readonly isViewer: boolean },
): Promise<number> {
  if (!canChat()) throw needsTerminal(session.session_id);
  await using runtime = await createBackend(client).open(session.session_id);
  const listSessions = async () => (await client.call("session.list", { state: "live" })).sessions;
  const { state, session_id } = session;
  const name = nameThere(client, session_id);
  return await runChat({ runtime, listSessions, state, name, ...viewing });
}

/** The chat view needs a terminal to draw on. */
function needsTerminal(session_id: string): Fault {
  return new Fault(
    "unsupported",
    `${session_id} is an agent, and its chat view needs a terminal on stdin and stdout. Without one, use: reins watch ${session_id}, reins send TEXT --to ${session_id}, reins answer --to ${session_id}; with TERM=dumb: reins run --session ${session_id}`,
  );
}
