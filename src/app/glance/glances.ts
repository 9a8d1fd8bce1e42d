import { join } from "node:path";
import { maySee, type Who } from "#app/caller.ts";
import { isLive, isResumable } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import type { Glance } from "#contract/operations/session.ts";
import type { Operations } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { openLogFiles } from "#log/log-files.ts";
import type { SessionHost, SessionHosts } from "#session/session-host.ts";
import { readAgentEnd } from "./agent-line.ts";
import { readOutputLine } from "./output-line.ts";

export interface GlanceDeps {
  readonly hosts: SessionHosts;
  readonly sessionsFolder: string;
  /** Whether it is known that an agent asks, where somebody follows all of them. */
  readonly isAsking: (sessionId: string) => boolean;
}

/** For lists: a small read at the end of each log, and nothing that stays open. */
export function createGlanceOperations(
  deps: GlanceDeps,
  caller: Who,
): Pick<Operations, "session.glances"> {
  return {
    "session.glances": async ({ session_ids }) => {
      const ids = [...new Set(session_ids)];
      const found = await Promise.all(ids.map((id) => findSession(deps.hosts.of(id), id)));
      const glances: Glance[] = [];
      for (const session of found) {
        if (session === undefined || !maySee(caller, session.workspace_id)) continue;
        glances.push(await glanceAt(deps, session));
      }
      return { glances };
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

/** A log that has gone meanwhile is one with nothing in it. */
async function glanceAt(deps: GlanceDeps, session: Session): Promise<Glance> {
  const { session_id, tail, last_io_at, kind } = session;
  const common = { session_id, tail, last_io_at };
  const folder = join(deps.sessionsFolder, session_id);
  if (kind !== "agent") {
    using output = openLogFiles(join(folder, "output"));
    return { ...common, line: readOutputLine(output, tail), needs_answer: false };
  }
  using events = openLogFiles(join(folder, "events"));
  const { isInTurn, isAsking, ...end } = await readAgentEnd(events, session.events_tail);
  const isRunning = isLive(session);
  const isHeard = isAsking || deps.isAsking(session_id);
  // One that is parked still asks; one that has ended otherwise does not.
  const needs_answer = isHeard && (isRunning || isResumable(session));
  return {
    ...common,
    ...end,
    activity: nameActivity(isRunning && isInTurn, needs_answer),
    needs_answer,
  };
}

function nameActivity(isInTurn: boolean, needsAnswer: boolean): Glance["activity"] {
  if (needsAnswer) return "waiting";
  return isInTurn ? "running" : "idle";
}
