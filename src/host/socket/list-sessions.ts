import { limits } from "#contract/limits.ts";
import type { HostSession } from "#host/session/host-session.ts";
import type { HostMethods } from "./methods.ts";
import type { RequestOf } from "./requests.ts";

type ListRequest = RequestOf<"session.list">;
type Page = HostMethods["session.list"]["result"]["sessions"];

/** Of a page as JSON, give or take its last session: far below what a frame holds, however long the command lines are. */
const PAGE_BYTES = 8 * 1024 * 1024;

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
  const sessions = takePage(rest.slice(0, limit));
  const last = rest[sessions.length - 1];
  return {
    sessions,
    cursor: last !== undefined && rest.length > sessions.length ? placeOf(last) : null,
    total: sorted.length,
  };
}

function takePage(wanted: readonly HostSession[]): Page {
  const page: Page[number][] = [];
  let bytes = 0;
  for (const session of wanted) {
    const view = session.view();
    page.push(view);
    bytes += Buffer.byteLength(JSON.stringify(view));
    if (bytes >= PAGE_BYTES) break;
  }
  return page;
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
  const text = [record.session_id, record.name ?? "", record.title, record.work_dir, ...record.argv]
    .join("\n")
    .toLowerCase();
  return text.includes(q.toLowerCase());
}
