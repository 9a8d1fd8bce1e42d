// docs/benchmarks.md is written by people but for what stands between its two marks: that is made from
// docs/benchmarks/results.json, into which each run puts the rows that it has measured.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Machine, sayMachine } from "#bench/machine.ts";
import { judge, type Point, type Row, renderRows, renderTable } from "#bench/row.ts";
import { type PlotName, plots } from "./plots.ts";
import { renderPlot } from "./svg.ts";

/** What one run found of one row or one load, and how it was run. */
export interface Section {
  readonly machine: Machine;
  readonly how: string;
  /** Too few runs or too small: its ratios are shown, and neither met nor missed. */
  readonly is_try: boolean;
  readonly rows?: readonly Row[];
  readonly table?: readonly (readonly string[])[];
}

export interface Results {
  readonly bench: Readonly<Record<string, Section>>;
  readonly load: Readonly<Record<string, Section>>;
}

export const startMark = "<!-- results: from here on written by the benchmarks -->";
export const endMark = "<!-- end of the results -->";

const docs = fileURLToPath(new URL("../../docs", import.meta.url));

/** Puts the sections beside those of earlier runs, and draws page and plots anew. */
export function writeReport(found: Partial<Results>, dir = docs): void {
  const folder = join(dir, "benchmarks");
  mkdirSync(folder, { recursive: true });
  const before = readResults(join(folder, "results.json"));
  const results: Results = {
    bench: { ...before.bench, ...found.bench },
    load: { ...before.load, ...found.load },
  };
  writeFileSync(join(folder, "results.json"), `${JSON.stringify(results, undefined, 2)}\n`);
  const drawn = groupPoints(results);
  for (const [name, points] of drawn)
    writeFileSync(join(folder, `${name}.svg`), renderPlot(plots[name], points));
  const page = join(dir, "benchmarks.md");
  const text = renderResults(results, [...drawn.keys()]);
  writeFileSync(page, replaceResults(readFileSync(page, "utf8"), text));
}

export function replaceResults(page: string, results: string): string {
  const start = page.indexOf(startMark);
  const end = page.indexOf(endMark, start);
  if (start === -1 || end === -1) throw new Error(`the page lacks "${startMark}" or "${endMark}"`);
  return `${page.slice(0, start)}${startMark}\n\n${results}\n${page.slice(end)}`;
}

function renderResults(results: Results, drawn: readonly PlotName[]): string {
  const parts = [
    "## Ratios",
    ...groupByRun(results.bench).map(({ said, sections }) => {
      const rows = sections.flatMap((section) => section.rows ?? []);
      const isTry = sections.some(({ is_try }) => is_try);
      return `${said}\n\n${renderRows(rows, isTry ? sayTry : judge).trimEnd()}`;
    }),
    "## Plots",
    ...drawn.map((name) => `![${plots[name].title}](benchmarks/${name}.svg)`),
    "## Load",
    ...Object.values(results.load).map(
      ({ machine, how, table = [] }) =>
        `${sayRun(machine, how)}\n\n${renderTable(table).trimEnd()}`,
    ),
  ];
  return `${parts.join("\n\n")}\n`;
}

function sayTry({ target }: Row): string {
  return target === undefined ? "printed" : "not judged";
}

/** Rows of the same run stand under one sentence. */
function groupByRun(sections: Readonly<Record<string, Section>>) {
  const runs = Map.groupBy(Object.values(sections), ({ machine, how }) => sayRun(machine, how));
  return [...runs].map(([said, held]) => ({ said, sections: held }));
}

function sayRun(machine: Machine, how: string): string {
  return `${sayMachine(machine)}. ${how}`;
}

function groupPoints({ bench }: Results): Map<PlotName, Point[]> {
  const points = Object.values(bench)
    .flatMap(({ rows = [] }) => rows)
    .flatMap(({ points: held = [] }) => held);
  return Map.groupBy(points, ({ plot }) => plot);
}

function readResults(path: string): Results {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    // The first run finds none.
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      return { bench: {}, load: {} };
    throw error;
  }
}
