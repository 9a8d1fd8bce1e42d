import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { Emulator } from "./emulator.ts";
import { openFromSnapshot, takeSnapshot } from "./snapshot.ts";
import { packSnapshot, unpackSnapshot } from "./snapshot-codec.ts";
import { encodeState } from "./state.ts";
import { renderText } from "./text.ts";

const MIB = 1024 * 1024;
const MOST = 2_147_483_647;

test.each([
  ..."@ABCDEFGHILMPSTXZ`abdefghlmr",
  " @",
  " A",
  "'}",
  "'~",
  "?h",
  "?l",
  " q",
  '"q',
  "*x",
])("a count of two thousand million for CSI %s ends", (final) => {
  using emulator = openEmulator();
  emulator.write(`some words\r\nand more\x1b[1;5Hx\x1b[${MOST}${final}y`);
  expect(renderText(emulator).lines).toHaveLength(24);
});

test("a count beyond the screen does what one of a screenful does", () => {
  using emulator = openEmulator();
  emulator.write(`one\r\ntwo\r\nthree\x1b[2;1H\x1b[${MOST}Lnew`);
  expect(renderText(emulator).lines.slice(0, 3)).toEqual(["one", "new", ""]);
  emulator.write(`\x1b[H\x1b[J*\x1b[${MOST}b`);
  // As many as there are columns behind the last full row.
  expect(emulator.core._bufferService.buffers.active.x).toBe(1 + (MOST % 80));
  expect(renderText(emulator).lines[5]).toBe("*".repeat(80));
});

test("erasing up to the last cell of the screen erases it and fails nobody", () => {
  using emulator = openEmulator();
  emulator.write(`top\x1b[24;1Hlast row\x1b[24;80H\x1b[1Jstill`);
  const printed = renderText(emulator).lines.filter((line) => line !== "");
  expect(printed).toEqual([`${" ".repeat(79)}s`, "till"]);
});

test("a title of many megabytes is left out, and the one before it stays", () => {
  using emulator = openEmulator();
  emulator.write("\x1b]2;short\x07");
  for (let part = 0; part < 9; part += 1)
    emulator.write(`${part === 0 ? "\x1b]2;" : ""}${"title ".repeat(MIB / 6)}`);
  emulator.write("\x07after");
  const { title, lines } = renderText(emulator);
  expect(title).toBe("short");
  expect(lines[0]).toBe("after");
  expect(packSnapshot(takeSnapshot(emulator, false)).length).toBeLessThan(50_000);
});

test("a title that the limit just allows is kept, and only its start is shown", () => {
  using emulator = openEmulator();
  emulator.write(`\x1b]2;${"t".repeat(limits.sequence_bytes - 4)}\x07`);
  expect(renderText(emulator).title).toBe("t".repeat(limits.title_chars));
  using painted = openEmulator();
  painted.write(encodeState(emulator));
  expect(painted.core._inputHandler._windowTitle).toHaveLength(limits.sequence_bytes - 4);
});

test("a snapshot inside a string that is too long continues there, and so does a painted terminal", () => {
  for (const start of ["\x1b]2;", "\x1bP$q", "\x1b_G"]) {
    using emulator = openEmulator();
    emulator.write(`before${start}${"x".repeat(MIB)}`);
    expect(emulator).toMatchObject({ isAtRest: true, pendingBytes: 0 });
    using copy = openFromSnapshot(unpackSnapshot(packSnapshot(takeSnapshot(emulator, false))));
    using painted = openEmulator();
    painted.write(encodeState(emulator));
    for (const one of [emulator, copy, painted]) {
      one.write(`${"y".repeat(MIB)}\x1b\\after`);
      expect(renderText(one)).toMatchObject({ title: "", lines: { 0: "beforeafter" } });
    }
  }
});

test("strings that nobody knows leave nothing behind, however long they are", () => {
  using emulator = openEmulator();
  for (const start of ["\x1bPq", "\x1b]1337;File=", "\x1b_G", "\x1b^", "\x1bX"]) {
    emulator.write(start);
    for (let part = 0; part < 12; part += 1) emulator.write(Buffer.alloc(MIB, "#0!"));
    emulator.write("\x1b\\");
  }
  emulator.write("after");
  expect(renderText(emulator).lines[0]).toBe("after");
});

test("combining characters without end stay a few", () => {
  using emulator = openEmulator();
  emulator.write("e");
  for (let part = 0; part < 16; part += 1) emulator.write("\u0301".repeat(30_000));
  emulator.write("x");
  const [line = ""] = renderText(emulator).lines;
  expect(line.length).toBeLessThan(100);
  expect(line.endsWith("x")).toBe(true);
  const kept = emulator.core._bufferService.buffers.active.lines.get(0)?._combined[0];
  expect(kept?.length).toBeLessThanOrEqual(64);
  // On a line that has scrolled away before the chunk ends.
  emulator.write(`e${"\u0301".repeat(30_000)}${"\r\n".repeat(30)}`);
  const { lines } = emulator.core._bufferService.buffers.active;
  const lengths = Array.from({ length: lines.length }, (_, row) =>
    Object.values(lines.get(row)?._combined ?? {}).map(({ length }) => length),
  ).flat();
  expect(Math.max(...lengths)).toBeLessThanOrEqual(64);
});

test("ten thousand resizes end, and leave the text", () => {
  using emulator = openEmulator();
  emulator.write("words to be wrapped again and again ".repeat(40));
  for (let round = 0; round < 10_000; round += 1)
    emulator.resize({ cols: 2 + ((round * 7) % 150), rows: 1 + ((round * 3) % 50) });
  emulator.resize({ cols: 80, rows: 24 });
  emulator.write("\x1b[2J\x1b[Hend");
  expect(renderText(emulator).lines[0]).toBe("end");
});

test("a size beyond what is rendered takes no more room than the largest that is", () => {
  using emulator = new Emulator({ size: { cols: 4096, rows: 4096 }, convertEol: false });
  expect(emulator.size).toEqual({ cols: 1000, rows: 500 });
  emulator.write("\x1b[4096;4096Hx");
  expect(renderText(emulator).cursor).toMatchObject({ row: 499, col: 999 });
});

test("links without end keep their text, and the addresses of the newest", () => {
  using emulator = openEmulator();
  const address = "http://example.com/".padEnd(1000, "x");
  for (let number = 0; number < 10_000; number += 1)
    emulator.write(`\x1b]8;;${address}${number}\x07name\x1b]8;;\x07`);
  emulator.write("\x1b[Htop");
  const addresses = emulator.links.list().map(([, , one]) => one);
  expect(addresses.join("").length).toBeLessThanOrEqual(512 * 1024);
  expect(addresses.at(-1)).toBe(`${address}9999`);
  expect(renderText(emulator).lines[0]).toMatch(/^topename/);
  expect(encodeState(emulator)).toContain(`${address}9999\x1b\\name`);
  for (let number = 0; number < 10_000; number += 1)
    emulator.write(`\x1b]8;;http://a/${number}\x07`);
  expect(emulator.links.list()).toHaveLength(4096);
});

test("an address that is longer than any link is not kept", () => {
  using emulator = openEmulator();
  emulator.write(`\x1b]8;;http://a\x07one\x1b]8;;${"x".repeat(5000)}\x07two`);
  expect(emulator.links.list()).toEqual([[1, "", "http://a"]]);
  expect(encodeState(emulator)).toContain("\x1b]8;;http://a\x1b\\one\x1b[0m\x1b]8;;\x1b\\two");
});

test("an emulator answers no question, and neither does one made of its snapshot", () => {
  using emulator = openEmulator();
  using copy = openFromSnapshot(takeSnapshot(emulator, false));
  const said: string[] = [];
  emulator.terminal.onData((data) => said.push(data));
  copy.terminal.onData((data) => said.push(data));
  const questions =
    "\x1b[c\x1b[>c\x1b[5n\x1b[6n\x1b[?6n\x1b[?1$p\x1bP$qm\x1b\\\x1b]10;?\x07\x1b[18t";
  emulator.write(questions);
  copy.write(questions);
  expect(said).toEqual([]);
});

test("text and titles hold no control characters", () => {
  using emulator = openEmulator();
  emulator.write("a\u0085b\x7fc\x1b]2;one\u009btwo\u2028three\x07");
  const { lines, title } = renderText(emulator);
  expect([...lines, title].join("")).not.toMatch(/[\p{Cc}\u2028]/u);
});

function openEmulator(): Emulator {
  return new Emulator({ size: { cols: 80, rows: 24 }, convertEol: false });
}
