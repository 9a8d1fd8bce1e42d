import headless from "@xterm/headless";
import { expect, test } from "vitest";
import { drawRemark, PipePrinter, sayGap } from "./printed.ts";

test("a character that is cut between two frames is put together, also across the other channel", () => {
  const printer = new PipePrinter();
  const euro = new TextEncoder().encode("€");
  expect(printer.print(euro.subarray(0, 1), "stdout")).toBe("");
  expect(printer.print(new TextEncoder().encode("err"), "stderr")).toBe("\x1b[3;31merr\x1b[23;39m");
  expect(printer.print(euro.subarray(1), "stdout")).toBe("€");
});

test("a gap ends what was unfinished and is a line of its own", async () => {
  const terminal = new headless.Terminal({ cols: 60, rows: 5, allowProposedApi: true });
  const gap = drawRemark(sayGap(12_900_000), { isAlternate: false });
  await new Promise<void>((resolve) => terminal.write(`before\x1b]0;unfin${gap}after`, resolve));
  const line = (row: number) => terminal.buffer.active.getLine(row)?.translateToString(true);
  expect([line(0), line(1), line(2)]).toEqual([
    "before",
    " — 12 MiB are no longer kept — ",
    "after",
  ]);
});

test("a gap leaves the other screen", async () => {
  const terminal = new headless.Terminal({ cols: 60, rows: 5, allowProposedApi: true });
  const gap = drawRemark(sayGap(1), { isAlternate: true });
  await new Promise<void>((resolve) => terminal.write(`\x1b[?1049hvim${gap}`, resolve));
  expect(terminal.buffer.active.type).toBe("normal");
});

test("a remark brings no sequences of its own", () => {
  const drawn = drawRemark("a\x1b]0;x\x07b\x9bc", { isAlternate: false });
  expect(drawn).toContain(" — a]0;xbc — ");
});
