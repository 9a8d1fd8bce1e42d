import { useMemo, useSyncExternalStore } from "react";

/**
 * The route of the page. It is in the fragment of the address, which never reaches a server: neither its log nor a proxy
 * learns which session somebody looks at, and the page works below any path.
 */
export type Route =
  | { readonly name: "sessions" }
  | { readonly name: "new"; readonly kind: "shell" | "command" | "agent" }
  | { readonly name: "session"; readonly sessionId: string }
  /** `at`: seconds from its beginning. */
  | { readonly name: "recording"; readonly sessionId: string; readonly at: number | undefined }
  | { readonly name: "audit" }
  | { readonly name: "tokens" }
  | { readonly name: "health" }
  | { readonly name: "unknown"; readonly path: string };

const NEW_KINDS = ["shell", "command", "agent"] as const;

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const parts = path.split("/").filter((part) => part !== "");
  const [first, second, third] = parts;
  if (first === undefined) return { name: "sessions" };
  if (first === "new" && third === undefined) {
    const kind = NEW_KINDS.find((name) => name === (second ?? "shell"));
    if (kind !== undefined) return { name: "new", kind };
  }
  if (first === "s" && second !== undefined) {
    const sessionId = decode(second);
    if (third === undefined) return { name: "session", sessionId };
    if (third === "recording") return { name: "recording", sessionId, at: parseMoment(query) };
  }
  if ((first === "audit" || first === "tokens" || first === "health") && second === undefined)
    return { name: first };
  return { name: "unknown", path };
}

export function formatRoute(route: Route): string {
  switch (route.name) {
    case "sessions":
      return "#/";
    case "new":
      return `#/new/${route.kind}`;
    case "session":
      return `#/s/${encodeURIComponent(route.sessionId)}`;
    case "recording": {
      const moment = route.at === undefined ? "" : `?t=${route.at}`;
      return `#/s/${encodeURIComponent(route.sessionId)}/recording${moment}`;
    }
    case "audit":
    case "tokens":
    case "health":
      return `#/${route.name}`;
    case "unknown":
      return `#${route.path}`;
  }
}

export function navigate(route: Route): void {
  const hash = formatRoute(route);
  if (hash === window.location.hash) return;
  window.history.pushState(null, "", hash);
  // pushState dispatches no event.
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(listen, () => window.location.hash);
  return useMemo(() => parseRoute(hash), [hash]);
}

function listen(onChange: () => void): () => void {
  window.addEventListener("hashchange", onChange);
  window.addEventListener("popstate", onChange);
  return () => {
    window.removeEventListener("hashchange", onChange);
    window.removeEventListener("popstate", onChange);
  };
}

function parseMoment(query: string): number | undefined {
  const text = new URLSearchParams(query).get("t");
  if (text === null || !/^\d{1,9}(?:\.\d{1,3})?$/.test(text)) return undefined;
  return Number(text);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
