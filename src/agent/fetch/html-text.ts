/** What stands in between is nothing to read. */
const UNREAD = ["script", "style", "noscript", "template", "svg", "iframe", "head", "textarea"];
const BLOCKS =
  "address article aside blockquote dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul body html title";
const blocks = new Set(BLOCKS.split(" "));
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  copy: "©",
  reg: "®",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  bull: "•",
  middot: "·",
  euro: "€",
  times: "×",
  rarr: "→",
  larr: "←",
};
const HREF_CHARS = 2000;

interface HtmlOptions {
  /** Headings, lists, links and code as Markdown writes them. */
  readonly markdown: boolean;
  /** What relative links start from. */
  readonly url: string;
}

/** The text of a page for reading. Goes through it once, so it takes as long as the page is. */
export function htmlToText(html: string, options: HtmlOptions): string {
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const page = new Page(options);
  const title = findTitle(html, lower);
  if (title !== undefined) page.heading(title);
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf("<", at);
    page.text(html.slice(at, open < 0 ? html.length : open));
    if (open < 0) break;
    at = passTag(html, lower, { open, page });
  }
  return page.finish();
}

/** Where the text goes on behind the tag. */
function passTag(
  html: string,
  lower: string,
  { open, page }: { readonly open: number; readonly page: Page },
): number {
  if (lower.startsWith("<!--", open)) return behind(lower, "-->", open);
  if (!/[a-z/!?]/.test(lower[open + 1] ?? "")) {
    page.text("<");
    return open + 1;
  }
  const end = endOfTag(html, open);
  const name = /^\/?[a-z0-9-]*/.exec(lower.slice(open + 1, Math.min(end, open + 40)))?.[0] ?? "";
  if (UNREAD.includes(name)) return behind(lower, ">", indexFrom(lower, `</${name}`, end));
  page.tag(name, html.slice(open, end));
  return end;
}

/** A `>` in quotes does not end a tag. */
function endOfTag(html: string, open: number): number {
  let quote = "";
  for (let at = open + 1; at < html.length; at += 1) {
    const letter = html[at] ?? "";
    if (quote !== "") quote = letter === quote ? "" : quote;
    else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === ">") return at + 1;
  }
  return html.length;
}

function indexFrom(text: string, part: string, from: number): number {
  const at = text.indexOf(part, from);
  return at < 0 ? text.length : at;
}

function behind(text: string, part: string, from: number): number {
  return Math.min(text.length, indexFrom(text, part, from) + part.length);
}

function findTitle(html: string, lower: string): string | undefined {
  const open = lower.indexOf("<title");
  if (open < 0 || open > indexFrom(lower, "<body", 0)) return undefined;
  const from = endOfTag(html, open);
  const title = decodeEntities(html.slice(from, indexFrom(lower, "</title", from))).trim();
  return title === "" ? undefined : title.replace(/\s+/g, " ");
}

/** Collects lines; blanks are folded except in code. */
class Page {
  readonly #options: HtmlOptions;
  readonly #parts: string[] = [];
  readonly #links: string[] = [];
  #pre = 0;
  #isFresh = true;

  constructor(options: HtmlOptions) {
    this.#options = options;
  }

  heading(title: string): void {
    this.#parts.push(this.#options.markdown ? `# ${title}\n\n` : `${title}\n\n`);
  }

  text(raw: string): void {
    if (raw === "") return;
    const text = decodeEntities(raw);
    const folded = this.#pre > 0 ? text : text.replace(/\s+/g, " ");
    const shown = this.#isFresh && this.#pre === 0 ? folded.trimStart() : folded;
    if (shown === "") return;
    this.#parts.push(shown);
    this.#isFresh = false;
  }

  tag(name: string, whole: string): void {
    const isEnd = name.startsWith("/");
    const plain = isEnd ? name.slice(1) : name;
    if (plain === "br") this.#line("\n");
    if (blocks.has(plain)) this.#line("\n\n");
    if (!isEnd && (plain === "li" || plain === "tr")) this.#line("\n");
    if (plain === "pre") this.#code(isEnd);
    else if (plain === "a") this.#link(isEnd, whole);
    else if (plain === "td" || plain === "th") this.#parts.push(isEnd ? "" : " ");
    else if (!isEnd) this.#lead(plain);
  }

  finish(): string {
    return (
      this.#parts
        .join("")
        // Tried once for each run of blanks, however long it is.
        .replace(/(?<![ \t])[ \t]+\n/g, "\n")
        .replace(/\n{3,}/g, "\n\n")
        .trim()
    );
  }

  #line(text: string): void {
    this.#parts.push(text);
    this.#isFresh = true;
  }

  #lead(name: string): void {
    const level = /^h([1-6])$/.exec(name)?.[1];
    if (name === "li") this.#parts.push("- ");
    else if (level !== undefined && this.#options.markdown)
      this.#parts.push(`${"#".repeat(Number(level))} `);
  }

  #code(isEnd: boolean): void {
    this.#pre = Math.max(0, this.#pre + (isEnd ? -1 : 1));
    if (this.#options.markdown) this.#line("```\n");
  }

  #link(isEnd: boolean, whole: string): void {
    if (!this.#options.markdown) return;
    if (!isEnd) {
      const href = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(
        whole.slice(0, HREF_CHARS),
      );
      this.#links.push(this.#resolve(href?.[1] ?? href?.[2] ?? href?.[3] ?? ""));
      if (this.#links.at(-1) !== "") this.#parts.push("[");
      return;
    }
    const href = this.#links.pop() ?? "";
    if (href !== "") this.#parts.push(`](${href})`);
  }

  #resolve(href: string): string {
    const url = href === "" ? null : URL.parse(decodeEntities(href), this.#options.url);
    return url !== null && /^https?:$/.test(url.protocol) ? url.href : "";
  }
}

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, ...found) => {
    const [decimal, hex, name] = found as (string | undefined)[];
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10_ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : whole;
  });
}
