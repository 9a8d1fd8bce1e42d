import headless from "@xterm/headless";
import { expect, test } from "vitest";
import { guardAnswers, guardHostile, isReport } from "./parser-guards.ts";

const QUESTIONS = [
  "\x1b[c",
  "\x1b[0c",
  "\x1b[>c",
  "\x1b[5n",
  "\x1b[6n",
  "\x1b[?6n",
  "\x1b[?2004$p",
  "\x1b[4$p",
  "\x1bP$qm\x1b\\",
  "\x1b[18t",
];

test("old output asks for nothing, whatever it asks", async () => {
  const { write, typed } = openGuarded(() => false);
  await write(QUESTIONS.join("text"));
  expect(typed).toEqual([]);
});

test.each(QUESTIONS.filter((question) => !question.endsWith("t")))(
  "live output gets an answer to %j",
  async (question) => {
    const { write, typed } = openGuarded(() => true);
    await write(question);
    expect(typed).toHaveLength(1);
  },
);

test("a program learns nothing of the window, live or not", async () => {
  const { write, typed } = openGuarded(() => true);
  await write("\x1b[18t\x1b[14t\x1b[21t\x1b[11t");
  expect(typed).toEqual([]);
});

test("a question is judged when it is parsed, not when it was registered", async () => {
  let isLive = false;
  const { write, typed } = openGuarded(() => isLive);
  await write("\x1b[5n");
  isLive = true;
  await write("\x1b[5n");
  expect(typed).toEqual(["\x1b[0n"]);
});

test("the report that an old focus mode causes is swallowed once, what people do is not", async () => {
  let isLive = false;
  const { write, guard } = openGuarded(() => isLive);
  await write("\x1b[?1004h");
  expect(guard.swallows("\x1b[I")).toBe(true);
  expect(guard.swallows("\x1b[I")).toBe(false);
  await write("\x1b[?1004h");
  expect(guard.swallows("a")).toBe(false);
  isLive = true;
  await write("\x1b[?1004h");
  expect(guard.swallows("\x1b[O")).toBe(false);
});

test("reports of the mouse and the focus are not typed by anybody", () => {
  expect(["\x1b[I", "\x1b[O", "\x1b[<0;1;1M", "\x1b[M !!"].map(isReport)).toEqual(
    Array(4).fill(true),
  );
  expect(["a", "\x1b", "\x1b[A", "\x1bOA", "\x1b[1;5A", "I"].map(isReport)).toEqual(
    Array(6).fill(false),
  );
});

test("counts beyond all reason are left out and what follows is shown", async () => {
  const { write, line } = openGuarded(() => false);
  const counted = ["L", "M", "S", "T", "I", "Z", "b"].map((final) => `\x1b[2147483647${final}`);
  await write(`x${counted.join("")}\x1b[H\x1b[2Jstill here`);
  expect(line(0)).toBe("still here");
});

test("erasing up to the last cell of a fresh screen erases, and the emulator goes on", async () => {
  const { write, line } = openGuarded(() => false);
  await write(`one\r\ntwo\x1b[999;999H\x1b[1J\x1b[?1J\x1b[Hnext`);
  expect([line(0), line(1)]).toEqual(["next", ""]);
});

test("combining characters without end stay a few, and the next character is shown", async () => {
  const { write, line } = openGuarded(() => false);
  await write(`e${"\u0301".repeat(5000)}x`);
  expect(line(0)?.length).toBeLessThan(70);
  expect(line(0)?.endsWith("x")).toBe(true);
});

test("links beyond a bound are text, and end as links do", async () => {
  const { write, line, links } = openGuarded(() => false);
  const many = Array.from({ length: 5000 }, (_, count) => `\x1b]8;;http://a/${count}\x07`);
  await write(`${many.join("")}linked\x1b]8;;\x07 text`);
  expect(links()).toBe(4096);
  expect(line(0)).toBe("linked text");
});

function openGuarded(mayAnswer: () => boolean) {
  const terminal = new headless.Terminal({ cols: 20, rows: 5, allowProposedApi: true });
  const typed: string[] = [];
  terminal.onData((data) => typed.push(data));
  const guard = guardAnswers(terminal, mayAnswer);
  guardHostile(terminal);
  return {
    typed,
    guard,
    write: (text: string) => new Promise<void>((resolve) => terminal.write(text, resolve)),
    links: () => Object(terminal)._core._oscLinkService._dataByLinkId.size,
    line: (row: number) => terminal.buffer.active.getLine(row)?.translateToString(true),
  };
}
