/** Longer ones are no links that anybody could look at. */
const ADDRESS_CHARS = 4096;

/** What a link in a terminal leads to, if it may be followed at all: only http and https, as the browser reads it. */
export function parseAddress(text: string): URL | undefined {
  if (text.length > ADDRESS_CHARS || !URL.canParse(text)) return undefined;
  const address = new URL(text);
  return address.protocol === "http:" || address.protocol === "https:" ? address : undefined;
}

/** A name before the host is no part of where it leads, and is used to make it look as if. */
export function hasName({ username, password }: URL): boolean {
  return username !== "" || password !== "";
}
