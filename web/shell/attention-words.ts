import type { Route } from "#web/app/router.ts";
import type { News } from "./attention-news.ts";

const NAME_CHARS = 60;

/** Of the tab: how much waits, then where it is. */
export function formatTitle(count: number, place: string | undefined): string {
  const where = place === undefined ? "Reins" : `${shorten(place)} · Reins`;
  return count === 0 ? where : `(${count}) ${where}`;
}

/** Of a view that is no session; undefined for the first one. */
export function namePlace(route: Route): string | undefined {
  switch (route.name) {
    case "new":
      return "New session";
    case "audit":
      return "Audit";
    case "tokens":
      return "Tokens";
    case "health":
      return "Health";
    default:
      return undefined;
  }
}

export interface Looking {
  readonly isHidden: boolean;
  readonly route: Route;
}

/**
 * How somebody hears of it. Who looks at the session sees it anyway. What a person closed is told only where nobody
 * looks at the page: who looks has most likely done it.
 */
export function chooseWay(
  { kind, session }: News,
  { isHidden, route }: Looking,
): "none" | "toast" | "desktop" {
  if (isHidden) return "desktop";
  if (isShown(session.session_id, route)) return "none";
  const { state } = session;
  const wasClosed =
    kind === "ended" && state.kind === "exited" && state.reason === "user_requested";
  return wasClosed ? "none" : "toast";
}

/** The ends that nobody has seen: the list of all shows them, and a session its own. */
export function stillUnseen(unseen: ReadonlySet<string>, looking: Looking): ReadonlySet<string> {
  const { isHidden, route } = looking;
  if (isHidden || unseen.size === 0) return unseen;
  if (route.name === "sessions") return new Set();
  const left = [...unseen].filter((id) => !isShown(id, route));
  return left.length === unseen.size ? unseen : new Set(left);
}

export function sayNews({ kind, session }: News, name: string): string {
  if (kind === "asks") return `${shorten(name)} needs an answer`;
  return `${shorten(name)} ${sayEnd(session.state)}`;
}

/** Desktop notices in a row before they become one that says that there is more. */
const NOTICES_MOST = 4;
const NOTICES_MS = 10_000;

/** When the last ones were shown; a host that dies ends a thousand sessions at once. */
export function countNotice(
  shown: readonly number[],
  now: number,
): { readonly shown: readonly number[]; readonly isTooMany: boolean } {
  const fresh = shown.filter((at) => now - at < NOTICES_MS);
  if (fresh.length >= NOTICES_MOST) return { shown: fresh, isTooMany: true };
  return { shown: [...fresh, now], isTooMany: false };
}

function isShown(sessionId: string, route: Route): boolean {
  return (route.name === "session" || route.name === "recording") && route.sessionId === sessionId;
}

function sayEnd(state: News["session"]["state"]): string {
  if (state.kind === "lost") return "was lost with its host";
  if (state.kind !== "exited") return "ended";
  if (state.reason === "user_requested") return "was closed";
  if (state.reason === "idle_timeout" || state.reason === "lifetime_timeout")
    return "ended because its time was over";
  if (state.signal !== null) return `was ended by ${state.signal}`;
  if (state.exit_code === null) return "could not be started";
  return state.exit_code === 0 ? "has finished" : `failed with exit code ${state.exit_code}`;
}

function shorten(text: string): string {
  const letters = [...text];
  return letters.length <= NAME_CHARS ? text : `${letters.slice(0, NAME_CHARS - 1).join("")}…`;
}
