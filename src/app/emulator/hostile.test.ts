import { expect, test } from "vitest";
import { Emulator } from "./emulator.ts";
import { openFromSnapshot, takeSnapshot } from "./snapshot.ts";
import { packSnapshot } from "./snapshot-codec.ts";
import { encodeState } from "./state.ts";
import { renderText } from "./text.ts";

const MIB = 1024 * 1024;
const MOST = 2_147_483_647;

test.each([..."@ABCDEFGILMPSTXZ`abde"])(
  "a count of two thousand million for CSI %s ends",
  (final) => {
    using emulator = openEmulator();
    emulator.write(`some words\r\nand more\x1b[1;5Hx\x1b[${MOST}${final}y`);
    expect(renderText(emulator).lines).toHaveLength(24);
  },
);

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

test("a title of many megabytes is cut, and one line", () => {
  using emulator = openEmulator();
  for (let part = 0; part < 9; part += 1)
    emulator.write(`${part === 0 ? "\x1b]2;" : ""}${"title ".repeat(MIB / 6)}`);
  emulator.write("\x07after");
  const { title, lines } = renderText(emulator);
  expect(title).toHaveLength(200);
  expect(lines[0]).toBe("after");
  expect(packSnapshot(takeSnapshot(emulator, false)).length).toBeLessThan(50_000);
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

test("links keep their text and lose their address, so that addresses take no room", () => {
  using emulator = openEmulator();
  emulator.write("\x1b]8;;http://example.com/\x07name\x1b]8;;\x07");
  expect(renderText(emulator).lines[0]).toBe("name");
  expect(encodeState(emulator)).not.toContain("example");
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
