const START = "#ticket=";
const TICKET = /^[\w-]{1,200}$/;

export interface TakenTicket {
  /** Undefined when the address holds something else in its place. */
  readonly ticket: string | undefined;
}

/** The ticket of the address, which is taken out of it at once: it works once, and no history should keep it. */
export function takeTicket(): TakenTicket | undefined {
  const found = readTicket(window.location.hash);
  if (found === undefined) return undefined;
  window.history.replaceState(null, "", found.hash);
  return found;
}

/** The ticket and the target of an address, and the address without them. */
export function readTicket(hash: string): (TakenTicket & { readonly hash: string }) | undefined {
  if (!hash.startsWith(START)) return undefined;
  const [ticket = "", to = ""] = hash.slice(START.length).split("&to=", 2);
  const target = decode(to);
  return {
    ticket: TICKET.test(ticket) ? ticket : undefined,
    hash: target.startsWith("/") ? `#${target}` : "#/",
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // An address that was cut while it was copied leads to the first view.
    return "";
  }
}

/** A ticket, or the whole address with one in it, as it was pasted. */
export function findTicket(text: string): string | undefined {
  return /(?:^|#ticket=)(reins_ticket_[\w-]+)/.exec(text.trim())?.[1];
}
