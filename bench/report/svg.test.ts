import { expect, test } from "vitest";
import type { Point } from "#bench/row.ts";
import type { PlotSpec } from "./plots.ts";
import { renderPlot } from "./svg.ts";

const lines: PlotSpec = { title: "Time & size", kind: "lines", x: "sessions", y: "ms" };
const bars: PlotSpec = { title: "Speed", kind: "bars", x: "", y: "MB/s" };
const at = (x: number | string, y: number, series = "create"): Point => ({
  ...{ plot: "sessions-time", series, x, y },
});

test("a line stands at the logarithm of its counts, from the left edge to the right one", () => {
  const drawn = renderPlot(lines, [at(100, 5), at(1, 0), at(10, 10)]);
  expect(drawn).toContain('<polyline points="70,255 280,40 490,147.5"');
});

test("each series has a line, a colour and its name", () => {
  const drawn = renderPlot(lines, [at(1, 1), at(10, 2), at(1, 3, "list"), at(10, 4, "list")]);
  expect(drawn.match(/<polyline/g)).toHaveLength(2);
  expect(drawn).toMatch(/fill="#0072b2">create</);
  expect(drawn).toMatch(/fill="#d55e00">list</);
});

test("one count alone is drawn, not divided by nothing", () => {
  expect(renderPlot(lines, [at(1, 5)])).not.toMatch(/NaN|Infinity/);
});

test("a bar is as high as its part of the round number above the greatest", () => {
  const drawn = renderPlot(bars, [at("reins", 20), at("tmux", 5)]);
  expect(drawn).toMatch(/<rect [^>]*y="40" [^>]*height="215"/);
  expect(drawn).toMatch(/<rect [^>]*y="201.3" [^>]*height="53.8"/);
  expect(drawn).toContain(">tmux<");
});

test("a value below nought has no height, and no picture is broken by it", () => {
  const drawn = renderPlot(bars, [at("reins", 20), at("tmux", -6)]);
  expect(drawn).not.toMatch(/height="-/);
});

test("words are escaped", () => {
  expect(renderPlot(lines, [at(1, 1, "<b>")])).toContain("&lt;b&gt;");
  expect(renderPlot(lines, [])).toContain("Time &amp; size");
});
