import { type Client, createClient } from "#client/client.ts";
import { Fault } from "#contract/fault.ts";
import { revealHidden } from "#contract/text/hidden-characters.ts";

/** The address of the gateway is the page's own, with the path that a proxy may have put before it. */
export function createPageClient(onUnauthenticated: () => void): Client {
  const url = new URL("./", window.location.href);
  return createClient({ url: `${url.origin}${url.pathname}`, page: true, onUnauthenticated });
}

/** An error in words for people. The words of a server stay as they are: they may begin with an identifier. */
export function sayFault(error: unknown): string {
  return revealHidden(wordsOf(error), "prose");
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Fault)) {
    const message = error instanceof Error ? error.message : String(error);
    return `Something went wrong in this page: ${message}`;
  }
  if (error.code === "host_unavailable") return "Can't reach the server right now.";
  if (error.code === "internal") return `Something went wrong on the server: ${error.message}`;
  return error.message;
}
