import type { PlotName } from "./report/plots.ts";

/** One line of the table: what was measured, against what, and what it should be. */
export interface Row {
  readonly what: string;
  readonly measured: string;
  readonly against: string;
  /** Measured over its baseline; absent where there is none. */
  readonly ratio?: number;
  readonly target?: Target;
  /** What the target is compared with: the ratio unless it is said. */
  readonly judged?: number;
  /** Where it stands in the plots of docs/benchmarks. */
  readonly points?: readonly Point[];
}

/** A value in the plot of that name; `x` is a count for a line, or a word for a bar. */
export interface Point {
  readonly plot: PlotName;
  readonly series: string;
  readonly x: number | string;
  readonly y: number;
}

export type Target =
  | { readonly at_least: number; readonly unit?: string }
  | { readonly at_most: number; readonly unit?: string };

export interface RowOptions {
  readonly runs: number;
  /** Of a row that is as long as one likes. */
  readonly seconds?: number;
  /** That part of the full size, of the rows that are as big as one likes. */
  readonly scale?: number;
}

/** What a full size is in this run. */
export function scaled(full: number, { scale = 1 }: RowOptions): number {
  return Math.max(1, Math.round(full * scale));
}

export type Verdict = "met" | "MISSED" | "printed";

export function judge({ ratio, judged, target }: Row): Verdict {
  const value = judged ?? ratio;
  if (target === undefined || value === undefined) return "printed";
  const isMet = "at_least" in target ? value >= target.at_least : value <= target.at_most;
  return isMet ? "met" : "MISSED";
}

export function renderRows(rows: readonly Row[], sayVerdict: (row: Row) => string = judge): string {
  const table = [
    ["what", "measured", "against", "ratio", "target", ""],
    ...rows.map((row) => [
      row.what,
      row.measured,
      row.against,
      row.ratio === undefined ? "" : `${row.ratio.toPrecision(3)} x`,
      describeTarget(row.target),
      sayVerdict(row),
    ]),
  ];
  return renderTable(table);
}

/** A table as Markdown has them, so that it can be pasted as it is. */
export function renderTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const render = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? "").padEnd(width)).join(" | ")} |\n`;
  const line = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|\n`;
  return [render(head), line, ...rows.map(render)].join("");
}

function describeTarget(target: Target | undefined): string {
  if (target === undefined) return "";
  const unit = target.unit ?? "x";
  return "at_least" in target ? `>= ${target.at_least} ${unit}` : `<= ${target.at_most} ${unit}`;
}
