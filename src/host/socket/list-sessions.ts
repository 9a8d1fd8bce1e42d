import { limits } from "#contract/limits.ts";
import type { HostSession } from "#host/session/host-session.ts";
import type { HostMethods } from "./methods.ts";
import type { RequestOf } from "./requests.ts";

type ListRequest = RequestOf<"session.list">;

/** The newest first. The cursor is where the page ended, so what is made or removed meanwhile moves nothing. */
export function listSessions(
  all: readonly HostSession[],
  request: ListRequest,
): HostMethods["session.list"]["result"] {
  const sorted = all
    .filter((session) => matches(session, request))
    .toSorted((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1));
  const { cursor, limit = limits.list_default } = request;
  const rest =
    cursor === undefined ? sorted : sorted.filter((session) => placeOf(session) < cursor);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return {
    sessions: page.map((session) => session.view()),
    cursor: last !== undefined && rest.length > page.length ? placeOf(last) : null,
    total: sorted.length,
  };
}

function placeOf(session: HostSession): string {
  return `${session.record.created_at} ${session.id}`;
}

function matches(session: HostSession, request: ListRequest): boolean {
  const { record } = session;
  const { state, kind, labels = {}, any_label, parent_session_id, q } = request;
  if (state === "live" ? !session.isLive : state !== undefined && record.state.kind !== state)
    return false;
  if (kind !== undefined && record.kind !== kind) return false;
  if (parent_session_id !== undefined && record.parent_session_id !== parent_session_id)
    return false;
  if (Object.entries(labels).some(([name, value]) => record.labels[name] !== value)) return false;
  if (any_label !== undefined && !any_label.values.includes(record.labels[any_label.name] ?? ""))
    return false;
  if (q === undefined) return true;
  const text = [record.session_id, record.title, record.work_dir, ...record.argv]
    .join("\n")
    .toLowerCase();
  return text.includes(q.toLowerCase());
}
