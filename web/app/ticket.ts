const TICKET = /^#ticket=([\w-]{1,200})(?:&to=(.*))?$/;

/** The ticket of the address, which is taken out of it at once: it works once, and no history should keep it. */
export function takeTicket(): string | undefined {
  const found = TICKET.exec(window.location.hash);
  if (found === null) return undefined;
  const [, ticket, to = ""] = found;
  const target = decodeURIComponent(to);
  const hash = target.startsWith("/") ? `#${target}` : "#/";
  window.history.replaceState(null, "", hash);
  return ticket;
}

/** A ticket, or the whole address with one in it, as somebody pasted it. */
export function findTicket(text: string): string | undefined {
  return /(?:^|#ticket=)(reins_ticket_[\w-]+)/.exec(text.trim())?.[1];
}
