import type { Session } from "#contract/session.ts";
import { nameThere, type Place } from "./place.ts";

export interface Viewing {
  readonly isViewer: boolean;
}

/** An agent is not typed into but talked to. */
export async function chatWith(place: Place, session: Session, viewing: Viewing): Promise<number> {
  const { runChat } = await import("#cli/chat/chat.ts");
  await using runtime = await place.runtime(session.session_id);
  const listSessions = async () => (await place.call("session.list", { state: "live" })).sessions;
  const { state, session_id } = session;
  const name = nameThere(place, session_id);
  return await runChat({ runtime, listSessions, state, name, ...viewing });
}
