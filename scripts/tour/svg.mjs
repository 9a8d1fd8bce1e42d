// A recording (asciicast 2) as a picture that moves: node scripts/tour/svg.mjs tour.cast tour.svg
// Every distinct line is drawn once; a frame is a column of references to lines, and the picture steps from one column to
// the next. No script, so it moves where scripts are not allowed; who wishes for less motion sees the last frame.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import headless from "@xterm/headless";

const CELL = { width: 8.4, height: 18, font: 14 };
const EDGE = 14;
/** What changes faster is one frame. */
const FRAME_SECONDS = 0.08;
const LONGEST_PAUSE_SECONDS = 1.6;
const LAST_FRAME_SECONDS = 5;
const GROUND = "#15181e";
const TEXT = "#d8dee9";
const COLOURS = [
  ...["#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9"],
  ...["#5c6370", "#ff7b86", "#b5e890", "#ffd68a", "#82c4ff", "#dd9bef", "#7fd8e3", "#ffffff"],
];

export async function drawRecording(cast, title) {
  const [header, ...events] = cast
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  const { width: cols, height: rows } = header;
  const frames = await playFrames({ cols, rows }, events);
  return drawFrames({ cols, rows, frames, title });
}

/** What stands on the screen, and for how long. */
async function playFrames({ cols, rows }, events) {
  const terminal = new headless.Terminal({ cols, rows, scrollback: 0, allowProposedApi: true });
  const frames = [];
  for (const group of groupByTime(events.filter(([, kind]) => kind === "o"))) {
    const { promise, resolve } = Promise.withResolvers();
    terminal.write(group.text, resolve);
    await promise;
    const lines = readScreen(terminal, rows);
    const last = frames.at(-1);
    if (last !== undefined && last.lines.join() === lines.join()) last.seconds += group.seconds;
    else frames.push({ lines, seconds: group.seconds });
  }
  terminal.dispose();
  return frames;
}

function groupByTime(events) {
  const groups = [];
  for (const [time, , text] of events) {
    const group = groups.at(-1);
    if (group !== undefined && time - group.time < FRAME_SECONDS) group.text += text;
    else groups.push({ time, text });
  }
  return groups.map((group, index) => {
    const next = groups[index + 1];
    const pause = next === undefined ? LAST_FRAME_SECONDS : next.time - group.time;
    const seconds = next === undefined ? pause : Math.min(pause, LONGEST_PAUSE_SECONDS);
    return { text: group.text, seconds };
  });
}

function readScreen(terminal, rows) {
  const buffer = terminal.buffer.active;
  const cursor = { x: buffer.cursorX, y: buffer.cursorY };
  return Array.from({ length: rows }, (_, row) => {
    const line = drawLine(buffer.getLine(buffer.viewportY + row));
    return row === cursor.y ? `${drawCursor(cursor.x)}${line}` : line;
  });
}

/** Runs of cells that look alike. */
function drawLine(line) {
  const runs = [];
  for (let x = 0; x < (line?.length ?? 0); x += 1) {
    const cell = line.getCell(x);
    const text = cell.getChars() === "" ? " " : cell.getChars();
    const style = styleOf(cell);
    const run = runs.at(-1);
    if (run?.style === style) run.text += text;
    else runs.push({ x, style, text });
  }
  return runs
    .map((run) => ({ ...run, text: run.text.trimEnd() }))
    .filter(({ text }) => text !== "")
    .map(({ x, style, text }) => `<tspan x="${at(x)}"${style}>${escapeText(text)}</tspan>`)
    .join("");
}

function styleOf(cell) {
  const colour = cell.isFgPalette() ? COLOURS[cell.getFgColor()] : undefined;
  return [
    colour === undefined ? "" : ` fill="${colour}"`,
    cell.isBold() ? ' font-weight="bold"' : "",
    cell.isDim() ? ' opacity=".6"' : "",
  ].join("");
}

const drawCursor = (x) => `<tspan x="${at(x)}" fill="#98c379">▏</tspan>`;
const at = (column) => Number((EDGE + column * CELL.width).toFixed(1));
const escapeText = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function drawFrames({ cols, rows, frames, title }) {
  const width = Math.ceil(cols * CELL.width + 2 * EDGE);
  const height = rows * CELL.height + 2 * EDGE;
  const ids = new Map();
  const idOf = (line) => {
    if (!ids.has(line)) ids.set(line, `l${ids.size}`);
    return ids.get(line);
  };
  const columns = frames.map(({ lines }, index) => {
    const uses = lines.flatMap((line, row) =>
      line === "" ? [] : [`<use href="#${idOf(line)}" y="${EDGE + (row + 1) * CELL.height - 5}"/>`],
    );
    return `<g transform="translate(${index * width})">${uses.join("")}</g>`;
  });
  const drawn = [...ids].map(([line, id]) => `<text id="${id}">${line}</text>`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<title>${escapeText(title)}</title>`,
    `<style>${motion(frames, width)}</style>`,
    `<defs>${drawn.join("\n")}</defs>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${GROUND}"/>`,
    `<g id="film">${columns.join("\n")}</g>`,
    "</svg>",
    "",
  ].join("\n");
}

function motion(frames, width) {
  const total = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  let passed = 0;
  const steps = frames.map(({ seconds }, index) => {
    const percent = Number(((passed / total) * 100).toFixed(3));
    passed += seconds;
    return `${percent}%{transform:translateX(${-index * width}px)}`;
  });
  const last = -(frames.length - 1) * width;
  return [
    `text{font:${CELL.font}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${TEXT};white-space:pre}`,
    `#film{animation:film ${total.toFixed(2)}s step-end infinite}`,
    `@keyframes film{${steps.join("")}100%{transform:translateX(${last}px)}}`,
    `@media (prefers-reduced-motion:reduce){#film{animation:none;transform:translateX(${last}px)}}`,
  ].join("");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , from, to] = process.argv;
  writeFileSync(to, await drawRecording(readFileSync(from, "utf8"), "Reins"));
}
