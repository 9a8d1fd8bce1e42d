import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";

/** A file that a child prints, and what of it arrives behind a terminal and behind a pipe. */
export interface SampleText {
  readonly path: string;
  readonly pipe: Expected;
  readonly terminal: Expected;
}

export interface Expected {
  readonly bytes: number;
  readonly sha256: string;
}

const COLUMNS = 80;

/** Numbered lines of 80 columns, so that a swapped or repeated block shows. `bytes` is cut to whole lines. */
export function writeSampleText(path: string, bytes: number): SampleText {
  const lines = Math.max(1, Math.floor(bytes / COLUMNS));
  const text = Array.from({ length: lines }, (_, line) => sampleLine(line)).join("");
  writeFileSync(path, text);
  return {
    path,
    pipe: describe(text),
    // The line discipline sends a carriage return before each line feed.
    terminal: describe(text.replaceAll("\n", "\r\n")),
  };
}

function sampleLine(line: number): string {
  const number = `${line} `;
  return `${number.padEnd(COLUMNS - 1, "abcdefghijklmnopqrstuvwxyz ")}\n`;
}

function describe(text: string): Expected {
  return { bytes: text.length, sha256: createHash("sha256").update(text).digest("hex") };
}
