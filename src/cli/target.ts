import type { SessionOperations } from "#app/session.ts";
import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";

const EXACT = /^ses_[0-9a-z]{16}$/;
const SHOWN = 10;

/** The session that somebody means: the newest live one, an id, or a unique part of one. */
export async function findTarget(
  operations: SessionOperations,
  wanted: string | undefined,
): Promise<Session> {
  const word = wanted?.trim() ?? "";
  if (word === "" || word === "latest") {
    const { sessions } = await operations["session.list"]({ state: "live", limit: 1 });
    if (sessions[0] !== undefined) return sessions[0];
    throw new Fault(
      "run_not_found",
      "nothing is running; start something with: reins run -- COMMAND",
    );
  }
  if (EXACT.test(word))
    return await operations["session.get"]({ session_id: word as Session["session_id"] });
  const found = await findByPart(operations, word);
  if (found.length === 1 && found[0] !== undefined) return found[0];
  if (found.length === 0) {
    throw new Fault(
      "run_not_found",
      `no session's id contains ${JSON.stringify(word)}; reins ps -a lists them`,
    );
  }
  const ids = found.slice(0, SHOWN).map((session) => session.session_id);
  throw new Fault("ambiguous_target", `${JSON.stringify(word)} could be ${ids.join(", ")}`, {
    details: { sessions: ids },
  });
}

async function findByPart(operations: SessionOperations, part: string): Promise<Session[]> {
  const found: Session[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await operations["session.list"]({
      q: part,
      ...(typeof cursor === "string" ? { cursor } : {}),
    });
    found.push(...page.sessions.filter((session) => session.session_id.includes(part)));
    cursor = page.cursor;
  } while (cursor !== null && found.length <= SHOWN);
  return found;
}
