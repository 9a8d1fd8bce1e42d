import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { leaseForFile } from "#test/harness/lease.ts";
import { openModelTerminals } from "#test/harness/model-terminal.ts";

const leaseTerminals = leaseForFile(openModelTerminals);

const AGENT = fileURLToPath(new URL("../harness/screen-agent.ts", import.meta.url));
const openAgent = `${JSON.stringify(process.execPath)} ${JSON.stringify(AGENT)}`;

test("a dialog is driven with arrow keys", async () => {
  await using terminals = await leaseTerminals();
  const { call, workDir } = terminals;
  const command =
    "dialog --stdout --menu 'Pick one' 15 40 3 a Apple b Banana c Cherry > picked; echo code $?";
  const { terminal_id } = await call("terminal_open", { command });
  const menu = await call("terminal_wait", { terminal_id, for: "text", text: "Cherry" });
  expect(menu.screen).toContain("Pick one");
  const moved = await call("terminal_type", {
    terminal_id,
    keys: ["down", "down", "up"],
    since: menu.offset,
  });
  expect(moved.screen).toContain("Banana");
  await call("terminal_type", { terminal_id, keys: ["enter"] });
  await call("terminal_wait", { terminal_id, for: "exit" });
  expect(readFileSync(join(workDir, "picked"), "utf8")).toBe("b");
});

test("a full-screen agent that takes text and Enter in one read for a paste gets a line that ends in a line end", async () => {
  await using terminals = await openModelTerminals();
  const { call } = terminals;
  const { terminal_id } = await call("terminal_open", { command: openAgent });
  await call("terminal_wait", { terminal_id, for: "text", text: "╰──" });
  await call("terminal_type", { terminal_id, text: "Fix the tests.\n", settle: 0 });
  const text = "you wrote 1 lines, the last is Fix the tests.";
  const answer = await call("terminal_wait", { terminal_id, for: "text", text });
  expect(answer.matched).toBe(true);
});

test("what never stops to draw itself holds nobody up, and is interrupted", async () => {
  await using terminals = await leaseTerminals();
  const { call } = terminals;
  const { terminal_id } = await call("terminal_open", { command: openAgent });
  await call("terminal_wait", { terminal_id, for: "text", text: "╰──" });
  await call("terminal_type", { terminal_id, text: "forever" });
  await call("terminal_wait", { terminal_id, for: "text", text: "> forever" });
  await call("terminal_type", { terminal_id, keys: ["enter"], settle: 0 });
  await call("terminal_wait", { terminal_id, for: "text", text: "thinking" });
  const thinking = await call("terminal_type", {
    terminal_id,
    text: "x",
    settle: "5s",
    timeout: "300ms",
  });
  expect(thinking.screen).toMatch(/you: forever\n. thinking \d+/);
  const busy = await call("terminal_wait", {
    terminal_id,
    for: "idle",
    idle: "5s",
    timeout: "300ms",
  });
  expect(busy).toMatchObject({ matched: false, state: { kind: "running" } });
  const never = await call("terminal_wait", { terminal_id, for: "text", text: "no", timeout: 0.2 });
  expect(never.matched).toBe(false);
  await call("terminal_type", { terminal_id, keys: ["ctrl+c"], settle: 0 });
  const stopped = await call("terminal_wait", { terminal_id, for: "text", text: "interrupted" });
  expect(stopped.matched).toBe(true);
  await call("terminal_type", { terminal_id, keys: ["ctrl+c"] });
  expect(await call("terminal_wait", { terminal_id, for: "exit" })).toMatchObject({
    matched: true,
    alternate: false,
    state: { exit_code: 0 },
  });
});
