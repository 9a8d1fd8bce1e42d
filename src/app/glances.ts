import { Fault } from "#contract/fault.ts";
import type { Glance } from "#contract/operations/session.ts";
import type { Operations } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import type { SessionHost, SessionHosts } from "#session/session-host.ts";
import { type Caller, maySee } from "./caller.ts";

/** For lists: the fields of each session that say what it did last. */
export function createGlanceOperations(
  { hosts }: { readonly hosts: SessionHosts },
  caller: Caller,
): Pick<Operations, "session.glances"> {
  return {
    "session.glances": async ({ session_ids }) => {
      const ids = [...new Set(session_ids)];
      const found = await Promise.all(ids.map((id) => findSession(hosts.of(id), id)));
      return {
        glances: found
          .filter((session) => session !== undefined)
          .filter(({ workspace_id }) => maySee(caller, workspace_id))
          .map(describeGlance),
      };
    },
  };
}

async function findSession(host: SessionHost, sessionId: string): Promise<Session | undefined> {
  try {
    return await host.call("session.get", { session_id: sessionId });
  } catch (error) {
    if (error instanceof Fault && error.code === "session_not_found") return undefined;
    throw error;
  }
}

function describeGlance(session: Session): Glance {
  const { session_id, tail, last_io_at, last_line: line, agent, model, status } = session;
  const activity = session.kind === "agent" && status !== null ? activityOf(status) : undefined;
  return {
    ...{ session_id, line, tail, last_io_at },
    ...defined({ agent, model, activity }),
    needs_answer: status === "needs_you",
  };
}

function activityOf(status: NonNullable<Session["status"]>): Glance["activity"] {
  if (status === "needs_you") return "waiting";
  return status === "working" ? "running" : "idle";
}
