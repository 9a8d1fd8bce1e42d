interface Link {
  /** By which programs say that several pieces of text are one link; often empty. */
  readonly id: string;
  readonly address: string;
}

/** As a snapshot keeps it. */
export type NumberedLink = readonly [number: number, id: string, address: string];

/** A screen with its scrollback full of links, as a listing of files prints them. */
const LINKS = 4096;
const LINK_CHARS = 512 * 1024;
/** The longest address; the page opens none that is longer. */
const ADDRESS_CHARS = 4096;

/** The links that cells refer to by a number. The ones that were opened longest ago are forgotten first. */
export class LinkTable {
  readonly #numbers = new Map<string, number>();
  readonly #links = new Map<number, Link>();
  #last = 0;
  #chars = 0;

  constructor(known: readonly NumberedLink[] = []) {
    for (const [number, id, address] of known) this.#add(number, { id, address });
  }

  /** The number of a link; 0 when its address is too long to be one. */
  open(link: Link): number {
    if (link.address.length > ADDRESS_CHARS) return 0;
    const known = this.#numbers.get(keyOf(link));
    if (known !== undefined) this.#forget(known);
    const number = known ?? this.#last + 1;
    this.#add(number, link);
    for (const oldest of this.#links.keys()) {
      if (this.#links.size <= LINKS && this.#chars <= LINK_CHARS) break;
      this.#forget(oldest);
    }
    return number;
  }

  find(number: number): Link | undefined {
    return this.#links.get(number);
  }

  list(): NumberedLink[] {
    return [...this.#links].map(([number, { id, address }]) => [number, id, address]);
  }

  #add(number: number, link: Link): void {
    this.#numbers.set(keyOf(link), number);
    this.#links.set(number, link);
    this.#chars += keyOf(link).length;
    this.#last = Math.max(this.#last, number);
  }

  #forget(number: number): void {
    const link = this.#links.get(number);
    if (link === undefined) return;
    this.#links.delete(number);
    this.#numbers.delete(keyOf(link));
    this.#chars -= keyOf(link).length;
  }
}

/** The meaning of an OSC 8: a link, `undefined` for the end of one, `"unknown"` for neither. */
export function parseLink(payload: string): Link | undefined | "unknown" {
  const end = payload.indexOf(";");
  if (end < 0) return "unknown";
  const parameters = payload.slice(0, end).trim();
  const address = payload.slice(end + 1);
  if (address === "") return parameters === "" ? undefined : "unknown";
  const named = parameters.split(":").find((one) => one.startsWith("id="));
  return { id: named?.slice("id=".length) ?? "", address };
}

/** The sequence before the link's text; without a link, the end of one. */
export function encodeLink(link: Link | undefined): string {
  if (link === undefined) return "\x1b]8;;\x1b\\";
  return `\x1b]8;${link.id === "" ? "" : `id=${link.id}`};${link.address}\x1b\\`;
}

function keyOf({ id, address }: Link): string {
  return `${id};${address}`;
}
