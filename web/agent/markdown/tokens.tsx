import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { Fragment, type ReactNode } from "react";
import { Revealed } from "#web/ui/revealed.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Link } from "./link.tsx";
import css from "./markdown.module.css";

/** A block that is longer is shown as it is: reading it would hold up everything else. */
const BLOCK_CHARS = 64 * 1024;

export function drawBlock(text: string): ReactNode {
  if (text.length > BLOCK_CHARS) return <pre className={css.plain}>{reveal(text)}</pre>;
  return drawAll(new Lexer({ gfm: true, breaks: false }).lex(text));
}

const reveal = (text: string) => <Revealed text={text} reading="prose" />;

function drawAll(tokens: readonly Token[] | undefined): ReactNode {
  return (tokens ?? []).map((token, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no name, and are drawn anew when the text changes.
    <Fragment key={at}>{drawToken(token as MarkedToken)}</Fragment>
  ));
}

/** Nothing here is ever HTML: what Markdown passes through as such is shown as the text that it is. */
function drawToken(token: MarkedToken): ReactNode {
  switch (token.type) {
    case "heading":
      return <Heading depth={token.depth}>{drawAll(token.tokens)}</Heading>;
    case "paragraph":
      return <p dir="auto">{drawAll(token.tokens)}</p>;
    case "list":
      return <List list={token} />;
    case "blockquote":
      return <blockquote>{drawAll(token.tokens)}</blockquote>;
    case "code":
      return <CodeBlock text={token.text} language={token.lang ?? ""} />;
    case "table":
      return <Table table={token} />;
    case "hr":
      return <hr />;
    case "html":
      return token.block === true ? (
        <p className={css.html}>{reveal(token.raw.trim())}</p>
      ) : (
        reveal(token.raw)
      );
    case "space":
    case "def":
      return null;
    default:
      return drawInline(token);
  }
}

function drawInline(token: MarkedToken): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{drawAll(token.tokens)}</strong>;
    case "em":
      return <em>{drawAll(token.tokens)}</em>;
    case "del":
      return <del>{drawAll(token.tokens)}</del>;
    case "codespan":
      return <code>{reveal(token.text)}</code>;
    case "br":
      return <br />;
    case "link":
      return (
        <Link address={token.href} text={token.text}>
          {drawAll(token.tokens)}
        </Link>
      );
    // A picture from elsewhere would tell its server who reads this.
    case "image":
      return (
        <Link address={token.href} text={token.text}>
          {token.text === "" ? "picture" : reveal(token.text)}
        </Link>
      );
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    case "text":
      return token.tokens === undefined ? reveal(token.text) : drawAll(token.tokens);
    case "escape":
      return reveal(token.text);
    default:
      return reveal(token.raw);
  }
}

const sizes = [css.h1, css.h2, css.h3] as const;

/** Below the page's own heading all are of one level: what agents write skips levels as it likes. */
function Heading({ depth, children }: { readonly depth: number; readonly children: ReactNode }) {
  return (
    <h2 className={sizes[depth - 1] ?? css.h3} dir="auto">
      {children}
    </h2>
  );
}

function List({ list }: { readonly list: Tokens.List }) {
  const items = list.items.map((item, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: as above.
    <li key={at} dir="auto" className={item.task ? css.task : undefined}>
      {drawAll(item.tokens)}
    </li>
  ));
  if (!list.ordered) return <ul>{items}</ul>;
  return <ol start={list.start === "" ? 1 : list.start}>{items}</ol>;
}

function CodeBlock({ text, language }: { readonly text: string; readonly language: string }) {
  const [name = ""] = language.split(/\s/);
  return (
    <figure className={css.code}>
      <figcaption>
        <span>{name === "" ? "text" : reveal(name)}</span>
        <CopyButton text={text} label="Copy" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it. */}
      <pre tabIndex={0} dir="ltr">
        <code>{reveal(text)}</code>
      </pre>
    </figure>
  );
}

function Table({ table }: { readonly table: Tokens.Table }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: as above.
    <figure className={css.table} tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>{table.header.map((cell, at) => drawCell(cell, at))}</tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above.
            <tr key={at}>{row.map((cell, place) => drawCell(cell, place))}</tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

function drawCell(cell: Tokens.TableCell, key: number): ReactNode {
  const style = cell.align === null ? undefined : { textAlign: cell.align };
  return cell.header ? (
    <th key={key} scope="col" style={style}>
      {drawAll(cell.tokens)}
    </th>
  ) : (
    <td key={key} style={style}>
      {drawAll(cell.tokens)}
    </td>
  );
}
