import type { Point } from "#bench/row.ts";
import type { PlotSpec } from "./plots.ts";

const WIDTH = 640;
const HEIGHT = 300;
const LEFT = 70;
const RIGHT = 150;
const TOP = 40;
const BOTTOM = 45;
const TICKS = 4;
const BAR_PART = 0.6;
/** Told apart on white and on black, and by those who see fewer colours. */
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const GREY = "#888888";

interface Scale {
  readonly top: number;
  y(value: number): number;
}

/** A plot as a picture that stands on its own: no script, no font, no style of a page. */
export function renderPlot(spec: PlotSpec, points: readonly Point[]): string {
  const scale = scaleOf(points.map(({ y }) => y));
  const drawn = spec.kind === "bars" ? drawBars(points, scale) : drawLines(points, scale);
  const parts = [
    text(spec.title, { x: LEFT, y: 20, size: 14 }),
    text(spec.y, { x: LEFT - 8, y: TOP - 6, anchor: "end" }),
    ...drawTicks(scale),
    ...drawn,
    text(spec.x, { x: WIDTH - RIGHT, y: HEIGHT - 8, anchor: "end" }),
  ];
  const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" role="img" aria-label="${escapeText(spec.title)}">`;
  return `${[open, ...parts].join("\n")}\n</svg>\n`;
}

/** From nought to the next round number above the greatest. */
function scaleOf(values: readonly number[]): Scale {
  const most = Math.max(0, ...values.filter(Number.isFinite));
  const power = most === 0 ? 1 : 10 ** Math.floor(Math.log10(most));
  const top = ([1, 2, 4, 5, 8].find((step) => step * power >= most) ?? 10) * power;
  const floor = HEIGHT - BOTTOM;
  return { top, y: (value) => floor - (value / top) * (floor - TOP) };
}

function drawTicks({ top, y }: Scale): string[] {
  return Array.from({ length: TICKS + 1 }, (_, tick) => (top * tick) / TICKS).flatMap((value) => [
    `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${round(y(value))}" y2="${round(y(value))}" stroke="${GREY}" stroke-opacity="0.3"/>`,
    text(String(Number(value.toPrecision(3))), { x: LEFT - 8, y: y(value) + 4, anchor: "end" }),
  ]);
}

function drawBars(points: readonly Point[], { y }: Scale): string[] {
  const slot = (WIDTH - LEFT - RIGHT) / Math.max(1, points.length);
  return points.flatMap((point, at) => {
    const middle = LEFT + slot * (at + 0.5);
    const width = slot * BAR_PART;
    const top = y(point.y);
    const height = Math.max(0, HEIGHT - BOTTOM - top);
    return [
      `<rect x="${round(middle - width / 2)}" y="${round(top)}" width="${round(width)}" height="${round(height)}" fill="${colourOf(at)}"/>`,
      text(String(Number(point.y.toPrecision(3))), { x: middle, y: top - 4, anchor: "middle" }),
      text(String(point.x), { x: middle, y: HEIGHT - BOTTOM + 16, anchor: "middle" }),
    ];
  });
}

/** Counts grow tenfold from one to the next, so they stand at their logarithm. */
function drawLines(points: readonly Point[], { y }: Scale): string[] {
  const counts = [...new Set(points.map(({ x }) => Number(x)))].sort((a, b) => a - b);
  const [first = 1] = counts;
  const span = Math.log((counts.at(-1) ?? first) / first) || 1;
  const x = (count: number) => LEFT + (Math.log(count / first) / span) * (WIDTH - LEFT - RIGHT);
  const below = counts.map((count) =>
    text(String(count), { x: x(count), y: HEIGHT - BOTTOM + 16, anchor: "middle" }),
  );
  const series = [...Map.groupBy(points, (point) => point.series)];
  const lines = series.flatMap(([name, held], at) => {
    const places = held
      .toSorted((a, b) => Number(a.x) - Number(b.x))
      .map((point) => ({ x: round(x(Number(point.x))), y: round(y(point.y)) }));
    const path = places.map((place) => `${place.x},${place.y}`).join(" ");
    const colour = colourOf(at);
    return [
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...places.map((place) => `<circle cx="${place.x}" cy="${place.y}" r="3" fill="${colour}"/>`),
      text(name, { x: WIDTH - RIGHT + 12, y: TOP + 16 * (at + 1), fill: colour }),
    ];
  });
  return [...below, ...lines];
}

interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly size?: number;
  readonly anchor?: "start" | "middle" | "end";
  readonly fill?: string;
}

function text(words: string, place: TextPlace): string {
  const { x, y, size = 11, anchor = "start", fill = GREY } = place;
  return `<text x="${round(x)}" y="${round(y)}" font-size="${size}" text-anchor="${anchor}" fill="${fill}">${escapeText(words)}</text>`;
}

function colourOf(at: number): string {
  return colours[at % colours.length] ?? GREY;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeText(words: string): string {
  return words
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
