import { type Client, createClient } from "#client/client.ts";
import { Fault } from "#contract/fault.ts";

/** The address of the gateway is the page's own, with the path that a proxy may have put before it. */
export function createPageClient(onExpired: () => void): Client {
  const url = new URL("./", window.location.href);
  const client = createClient({ url: `${url.origin}${url.pathname}`, page: true });
  const note = (error: unknown): never => {
    if (error instanceof Fault && error.code === "unauthenticated") onExpired();
    throw error;
  };
  return {
    ...client,
    call: (...args) => client.call(...args).catch(note),
    output: (...args) => client.output(...args).catch(note),
    document: (...args) => client.document(...args).catch(note),
  };
}

/** What went wrong, as a sentence for people. */
export function sayFault(error: unknown): string {
  if (error instanceof Fault) {
    if (error.code === "host_unavailable") return "The server cannot be reached right now.";
    if (error.code === "internal") return `Something went wrong on the server: ${error.message}`;
    return capitalized(error.message);
  }
  return `Something went wrong in this page: ${error instanceof Error ? error.message : String(error)}`;
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
