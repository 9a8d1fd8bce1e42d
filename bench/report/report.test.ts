import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Machine } from "#bench/machine.ts";
import type { Row } from "#bench/row.ts";
import { endMark, replaceResults, type Section, startMark, writeReport } from "./report.ts";

const machine: Machine = {
  ...{ cpu: "A processor", cores: 2, kernel: "Linux 6", node: "v24", load: 0.25, memory_gib: 4 },
  date: "2026-01-02T03:04:05.000Z",
};

function openDocs(): string {
  const dir = mkdtempSync(join(tmpdir(), "reins-report-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, "benchmarks.md"), `# Speed\n\n${startMark}\nold\n${endMark}\n\nWhy.\n`);
  return dir;
}

function sectionOf(...rows: Row[]): Section {
  return { machine, how: "Medians of 1.", is_try: false, rows };
}

const echo: Row = {
  what: "echo",
  measured: "1 ms",
  against: "2 ms",
  ratio: 3,
  target: { at_most: 2 },
};
const grown: Row = {
  ...{ what: "grown", measured: "1 ms", against: "" },
  points: [{ plot: "sessions-time", series: "create", x: 1, y: 2 }],
};

test("what people wrote around the results stays", () => {
  expect(replaceResults(`a\n${startMark}\nold\n${endMark}\nb\n`, "new\n")).toBe(
    `a\n${startMark}\n\nnew\n\n${endMark}\nb\n`,
  );
});

test("a page without the marks is refused, not overwritten", () => {
  expect(() => replaceResults("a page", "new")).toThrow(/lacks/);
  expect(() => replaceResults(`${endMark} ${startMark}`, "new")).toThrow(/lacks/);
});

test("the page has machine, date, load, rows and verdicts", () => {
  const dir = openDocs();
  writeReport({ bench: { echo: sectionOf(echo) } }, dir);
  const page = readFileSync(join(dir, "benchmarks.md"), "utf8");
  expect(page).toContain("A processor, 2 cores");
  expect(page).toContain("2026-01-02T03:04:05.000Z; load 0.25. Medians of 1.");
  expect(page).toMatch(/\| echo +\| 1 ms +\| 2 ms +\| 3.00 x +\| <= 2 x \| MISSED/);
  expect(page).not.toContain("old");
});

test("a try shows its ratios and judges none of them", () => {
  const dir = openDocs();
  writeReport({ bench: { echo: { ...sectionOf(echo, grown), is_try: true } } }, dir);
  const page = readFileSync(join(dir, "benchmarks.md"), "utf8");
  expect(page).toMatch(/\| 3.00 x +\| <= 2 x \| not judged \|/);
  expect(page).toMatch(/\| grown .*\| printed +\|/);
});

test("a row that is measured again takes the place of what it was, the others stay", () => {
  const dir = openDocs();
  writeReport({ bench: { echo: sectionOf(echo), grown: sectionOf(grown) } }, dir);
  writeReport({ bench: { echo: sectionOf({ ...echo, measured: "9 ms" }) } }, dir);
  const page = readFileSync(join(dir, "benchmarks.md"), "utf8");
  expect(page).toContain("9 ms");
  expect(page.match(/\| echo /g)).toHaveLength(1);
  expect(page).toContain("| grown ");
});

test("points are drawn in a picture that the page shows", () => {
  const dir = openDocs();
  writeReport({ bench: { grown: sectionOf(grown) } }, dir);
  expect(readFileSync(join(dir, "benchmarks", "sessions-time.svg"), "utf8")).toContain("<svg");
  expect(readFileSync(join(dir, "benchmarks.md"), "utf8")).toContain(
    "(benchmarks/sessions-time.svg)",
  );
});

test("a load's table stands beside the rows of other runs", () => {
  const dir = openDocs();
  writeReport({ bench: { echo: sectionOf(echo) } }, dir);
  const table = [["when"], ["before"]];
  writeReport({ load: { attach: { machine, how: "50 cycles.", is_try: true, table } } }, dir);
  const page = readFileSync(join(dir, "benchmarks.md"), "utf8");
  expect(page).toMatch(/50 cycles\.\n\n\| when +\|\n\|-+\|\n\| before \|/);
  expect(page).toContain("| echo ");
});
