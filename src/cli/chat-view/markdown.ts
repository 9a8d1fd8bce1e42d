import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";

export interface Span {
  readonly text: string;
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly strike?: boolean;
  readonly code?: boolean;
  readonly dim?: boolean;
}

/** One line of text, before it is wrapped: what stands at its left stays there alone. */
export interface Row {
  readonly lead: string;
  readonly spans: readonly Span[];
}

const BULLET = "• ";
const BAR = "│ ";
const CODE = "    ";
const RULE = "───";

/** Markdown as rows of text: what makes sense without colours, and with the addresses of its links. */
export function readMarkdown(text: string): readonly Row[] {
  return describeBlocks(Lexer.lex(text));
}

function describeBlocks(tokens: readonly Token[]): Row[] {
  const blocks = tokens
    .map((token) => describeBlock(known(token)))
    .filter((rows) => rows.length > 0);
  return blocks.flatMap((rows, at) => (at === 0 ? rows : [{ lead: "", spans: [] }, ...rows]));
}

function describeBlock(token: MarkedToken): Row[] {
  switch (token.type) {
    case "space":
    case "def":
      return [];
    case "heading":
      return toRows(
        [{ text: `${"#".repeat(token.depth)} `, dim: true }, ...describeSpans(token.tokens)],
        { bold: true },
      );
    case "code":
      return token.text.split("\n").map((text) => ({ lead: CODE, spans: [{ text, code: true }] }));
    case "blockquote":
      return describeBlocks(token.tokens).map((row) => ({ ...row, lead: BAR + row.lead }));
    case "list":
      return token.items.flatMap((item, at) => describeItem(item, markerOf(token, at)));
    case "hr":
      return [{ lead: "", spans: [{ text: RULE, dim: true }] }];
    case "table":
      return describeTable(token);
    case "paragraph":
      return toRows(describeSpans(token.tokens));
    default:
      return toRows(describeSpans([token]));
  }
}

function markerOf({ ordered, start }: Tokens.List, at: number): string {
  return ordered ? `${(start === "" ? 1 : start) + at}. ` : BULLET;
}

function describeItem(item: Tokens.ListItem, marker: string): Row[] {
  // A text and a list below it belong together: no empty line between them.
  const rows = item.tokens.flatMap((token) => describeBlock(known(token)));
  const box = item.task ? (item.checked === true ? "[x] " : "[ ] ") : "";
  const [first = { lead: "", spans: [] }, ...rest] = rows.filter(({ spans }) => spans.length > 0);
  const margin = " ".repeat(marker.length);
  return [
    { lead: marker + box + first.lead, spans: first.spans },
    ...rest.map((row) => ({ ...row, lead: margin + row.lead })),
  ];
}

function describeTable({ header, rows }: Tokens.Table): Row[] {
  const line = (cells: readonly Tokens.TableCell[], style: Partial<Span>): Row => ({
    lead: "",
    spans: cells.flatMap(({ tokens }, at) => [
      ...(at === 0 ? [] : [{ text: " | ", dim: true }]),
      ...describeSpans(tokens).map((span) => ({ ...span, ...style })),
    ]),
  });
  return [line(header, { bold: true }), ...rows.map((row) => line(row, {}))];
}

function describeSpans(tokens: readonly Token[]): Span[] {
  return tokens.flatMap((token) => describeSpan(known(token)));
}

function describeSpan(token: MarkedToken): Span[] {
  switch (token.type) {
    case "strong":
      return describeSpans(token.tokens).map((span) => ({ ...span, bold: true }));
    case "em":
      return describeSpans(token.tokens).map((span) => ({ ...span, italic: true }));
    case "del":
      return describeSpans(token.tokens).map((span) => ({ ...span, strike: true }));
    case "codespan":
      return [{ text: token.text, code: true }];
    case "br":
      return [{ text: "\n" }];
    case "checkbox":
      return [];
    case "link":
      return describeLink(token);
    case "image":
      return [{ text: `[image: ${token.text}]` }, { text: ` (${token.href})`, dim: true }];
    case "text":
      return token.tokens === undefined ? [{ text: token.text }] : describeSpans(token.tokens);
    case "escape":
      return [{ text: token.text }];
    default:
      return [{ text: token.raw }];
  }
}

/** Where it leads is always to be seen. */
function describeLink({ href, text, tokens }: Tokens.Link): Span[] {
  const label = describeSpans(tokens);
  if (href === text || href === `mailto:${text}`) return label;
  return [...label, { text: ` (${href})`, dim: true }];
}

/** A row for each line of the text. */
function toRows(spans: readonly Span[], style: Partial<Span> = {}): Row[] {
  const rows: Span[][] = [[]];
  for (const span of spans) {
    for (const [at, text] of span.text.split("\n").entries()) {
      if (at > 0) rows.push([]);
      if (text !== "") rows.at(-1)?.push({ ...span, ...style, text });
    }
  }
  return rows.map((row) => ({ lead: "", spans: row }));
}

/** Without extensions there are no others; one that is none of ours is shown as it was written. */
function known(token: Token): MarkedToken {
  return token as MarkedToken;
}
