import { findNearest } from "#base/nearest.ts";
import { agentEventTypes } from "#contract/agent/events.ts";
import { sessionEventTypes } from "#contract/events.ts";

/** In the place of a type: all of them. */
export const EVERY_EVENT = "*";

const KNOWN: readonly string[] = [...sessionEventTypes, ...agentEventTypes];
const SOME = "turn.ended, approval.requested, error and session.exited; * is every one";

/**
 * What is wrong with the type of events that somebody waits for; undefined when it is one. Whoever waits for what
 * never happens would never hear of it.
 */
export function findWrongType(type: string): string | undefined {
  if (type === EVERY_EVENT || KNOWN.includes(type)) return undefined;
  const nearest = findNearest(type, KNOWN);
  const meant = nearest === undefined ? `some are ${SOME}` : `did you mean ${nearest}?`;
  return `there is no event of the type ${JSON.stringify(type)}; ${meant}`;
}
