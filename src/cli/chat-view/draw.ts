import { Box, type BoxProps, Text, type TextProps, Transform } from "ink";
import { createContext, createElement, type ReactNode, useContext } from "react";
import type { Tone } from "#cli/chat/chat-types.ts";
import { safeText } from "#cli/chat/safe-text.ts";
import type { Row, Span } from "./markdown.ts";

/** Node's type stripping knows no JSX. */
export const h = createElement;

/** Whether colours may be used; nothing is said by colour alone. */
export const Colours = createContext(true);

type Colour = "green" | "yellow" | "red" | "cyan";
export const toneColours: Readonly<Record<Tone, Colour | undefined>> = {
  plain: undefined,
  good: "green",
  warning: "yellow",
  error: "red",
};

export interface SayProps {
  readonly text: string;
  readonly colour?: Colour | undefined;
  readonly bold?: boolean | undefined;
  readonly dim?: boolean | undefined;
  readonly inverse?: boolean | undefined;
  readonly italic?: boolean | undefined;
  readonly strike?: boolean | undefined;
  /** One line, with its end cut off when there is no room. */
  readonly isLine?: boolean | undefined;
}

/** The one way to the screen: no text gets there that could control it. */
export function Say({ text, colour, isLine = false, ...style }: SayProps): ReactNode {
  const hasColours = useContext(Colours);
  const props: TextProps = {
    bold: style.bold ?? false,
    dimColor: style.dim ?? false,
    inverse: style.inverse ?? false,
    italic: style.italic ?? false,
    strikethrough: style.strike ?? false,
    wrap: isLine ? "truncate-end" : "wrap",
    ...(hasColours && colour !== undefined ? { color: colour } : {}),
  };
  return h(Text, props, isLine ? safeText(text).replaceAll("\n", " ") : safeText(text));
}

/** Things below each other that keep their height: what does not fit is cut off by who holds them. */
export function column(props: BoxProps, ...children: readonly ReactNode[]): ReactNode {
  return h(Box, { flexDirection: "column", flexShrink: 0, ...props }, ...children);
}

/** Something at the left that stays alone there, and what is wrapped beside it. */
export function beside(lead: SayProps, ...children: readonly ReactNode[]): ReactNode {
  return h(
    Box,
    { flexShrink: 0 },
    h(Box, { flexShrink: 0 }, h(Say, lead)),
    h(Box, { flexDirection: "column", flexGrow: 1, flexShrink: 1 }, ...children),
  );
}

/** Rows of Markdown. */
export function Rows({ rows }: { readonly rows: readonly Row[] }): ReactNode {
  return column({}, ...rows.map((row, at) => h(RowView, { key: at, row })));
}

function RowView({ row }: { readonly row: Row }): ReactNode {
  const spans = h(Text, {}, row.spans.length === 0 ? " " : row.spans.map(drawSpan));
  const text = h(Transform, { transform: withoutBreakBlank }, spans);
  return row.lead === "" ? text : beside({ text: row.lead, dim: true }, text);
}

/**
 * Ink keeps the blank at which it breaks a line: behind a word that ends exactly at the edge, it would begin the next
 * line. A row of Markdown has no line ends of its own, so every line but its first follows such a break.
 */
function withoutBreakBlank(line: string, index: number): string {
  return index === 0 ? line : line.replace(/^((?:\x1b\[[\d;]*m)*) /, "$1");
}

function drawSpan({ text, code = false, ...style }: Span, at: number): ReactNode {
  return h(Say, { key: at, text, ...style, ...(code ? { colour: "cyan" } : {}) });
}
