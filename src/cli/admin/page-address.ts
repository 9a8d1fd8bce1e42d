/** Behind the `#` it reaches no server and no log: the page itself reads it. */
export function addressOfPage(pageUrl: string, ticket: string): string {
  return `${pageUrl.replace(/\/$/, "")}/#ticket=${ticket}`;
}
