import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { OutputLine } from "./output-line.ts";

function lineOf(...pieces: readonly string[]): string | undefined {
  const output = new OutputLine();
  for (const piece of pieces) output.push(Buffer.from(piece));
  return output.line;
}

test.each([
  ["nothing at all", [""], ""],
  ["blank lines alone", ["\r\n  \r\n\r\n"], ""],
  ["lines", ["one\r\ntwo\r\n"], "two"],
  [
    "a prompt behind the last line",
    ["done\r\n\u001b[?2004h\u001b[32mme@here\u001b[0m:~$ "],
    "me@here:~$",
  ],
  ["a title of the window", ["\u001b]0;secret title\u0007shown\r\n"], "shown"],
  ["a bar that is drawn again and again", ["\r 10%\r 55%\r100%"], "100%"],
  [
    "a screen that is drawn by places",
    ["\u001b[2J\u001b[1;1Htop\u001b[24;1H-- INSERT --"],
    "-- INSERT --",
  ],
  ["a cut in the middle of a sequence", ["done\u001b[3", "1m, all of it"], "done, all of it"],
  ["characters that reverse the text", ["abc\u202edef\u2066"], "abc def"],
  ["tabs and runs of blanks", ["a\tb    c"], "a b c"],
  ["markup", ["<script>alert(1)</script>\n"], "<script>alert(1)</script>"],
])("of %s the last line with something in it is left", (_name, pieces, line) => {
  expect(lineOf(...pieces)).toBe(line);
});

test("a long line is cut by characters", () => {
  const line = lineOf("😀".repeat(500)) ?? "";
  expect([...line]).toHaveLength(limits.glance_chars);
  expect(line).toBe(`${"😀".repeat(limits.glance_chars - 1)}…`);
  expect(lineOf("x".repeat(limits.glance_chars))).toBe("x".repeat(limits.glance_chars));
});

test("no more than the end is read, and a line that begins before it is shown by its rest", () => {
  expect(lineOf(`early\n${"\n".repeat(5000)}`)).toBe("");
  expect(lineOf(`${"€".repeat(2000)}\n \n`)).toBe(`${"€".repeat(limits.glance_chars - 1)}…`);
  expect(lineOf(`${"€".repeat(2000)}\nlast\n`)).toBe("last");
});

test("however the output is cut, the line is the same", () => {
  const text = `${"x€\u001b[31m".repeat(700)}\nlast €\r\n`;
  const bytes = Buffer.from(text);
  for (const size of [1, 7, 100, 4095, 4096, 4097]) {
    const output = new OutputLine();
    for (let at = 0; at < bytes.length; at += size) output.push(bytes.subarray(at, at + size));
    expect(output.line).toBe("last €");
  }
});

test("before the first byte there is no line", () => {
  expect(lineOf()).toBeUndefined();
});
