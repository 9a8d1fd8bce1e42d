import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { leaseForFile } from "#test/harness/lease.ts";
import { openModelTerminals } from "#test/harness/model-terminal.ts";

const leaseTerminals = leaseForFile(openModelTerminals);

const AGENT = fileURLToPath(new URL("../harness/screen-agent.ts", import.meta.url));
const openAgent = `${JSON.stringify(process.execPath)} ${JSON.stringify(AGENT)}`;

test("vim is driven: a file is written with what was typed", async () => {
  await using terminals = await leaseTerminals();
  const { call, workDir } = terminals;
  writeFileSync(join(workDir, "note.txt"), "first\nsecond\n");
  const opened = await call("terminal_open", { command: "vi -u NONE -N -n -i NONE note.txt" });
  const { terminal_id } = opened;
  expect(opened).toMatchObject({ cols: 100, rows: 30 });
  const shown = await call("terminal_wait", { terminal_id, for: "text", text: "second" });
  expect(shown).toMatchObject({ matched: true, alternate: true });
  await call("terminal_type", { terminal_id, keys: ["down", "o"] });
  const typed = await call("terminal_type", { terminal_id, text: "third ünd\nfourth" });
  expect(typed).toMatchObject({ state: { kind: "running" } });
  const seen = await call("terminal_wait", { terminal_id, for: "regex", pattern: "^fourth$" });
  expect(seen.screen).toContain("first\nsecond\nthird ünd\nfourth\n~");
  await call("terminal_type", { terminal_id, keys: ["escape", "up", "home", "x"] });
  await call("terminal_wait", { terminal_id, for: "text", text: "\nhird ünd" });
  await call("terminal_type", { terminal_id, text: ":wq", keys: ["enter"] });
  const ended = await call("terminal_wait", { terminal_id, for: "exit" });
  expect(ended).toMatchObject({ matched: true, state: { kind: "exited", exit_code: 0 } });
  expect(readFileSync(join(workDir, "note.txt"), "utf8")).toBe("first\nsecond\nhird ünd\nfourth\n");
});

test("less is driven: pages, a search and the end", async () => {
  await using terminals = await leaseTerminals();
  const { call, workDir } = terminals;
  const lines = Array.from({ length: 300 }, (_, index) => `line number ${index + 1} of it`);
  writeFileSync(join(workDir, "long.txt"), `${lines.join("\n")}\n`);
  const { terminal_id } = await call("terminal_open", { command: "less long.txt", rows: 10 });
  const top = await call("terminal_wait", { terminal_id, for: "text", text: "long.txt" });
  expect(top.screen.split("\n").slice(0, 9)).toEqual(lines.slice(0, 9));
  await call("terminal_type", { terminal_id, keys: ["space"] });
  const paged = await call("terminal_wait", { terminal_id, for: "text", text: "number 18 of" });
  expect(paged).toMatchObject({ matched: true });
  expect(paged.screen).not.toContain("number 9 of");
  await call("terminal_type", { terminal_id, text: "/number 25[0]\n" });
  const found = await call("terminal_wait", {
    terminal_id,
    for: "regex",
    pattern: "^line number 250 ",
  });
  expect(found.screen.split("\n")[0]).toBe("line number 250 of it");
  await call("terminal_type", { terminal_id, keys: ["up"] });
  expect(
    await call("terminal_wait", { terminal_id, for: "text", text: "number 249 of" }),
  ).toMatchObject({ matched: true });
  await call("terminal_type", { terminal_id, text: "q" });
  expect(await call("terminal_wait", { terminal_id, for: "exit" })).toMatchObject({
    matched: true,
  });
});

test("a REPL is driven: sums, a function over several lines, and its end", async () => {
  await using terminals = await leaseTerminals();
  const { call } = terminals;
  const { terminal_id } = await call("terminal_open", { command: "python3 -q -i" });
  await call("terminal_wait", { terminal_id, for: "regex", pattern: "^>>> ?$" });
  await call("terminal_type", { terminal_id, text: "12 * 12 + 1\n" });
  const sum = await call("terminal_wait", { terminal_id, for: "regex", pattern: "^145$" });
  expect(sum.matched).toBe(true);
  const text = "def f(x):\n    y = x * 7\n    return y\n";
  await call("terminal_type", { terminal_id, text, paste: true, keys: ["enter", "enter"] });
  await call("terminal_wait", { terminal_id, for: "idle", idle: "200ms" });
  await call("terminal_type", { terminal_id, text: "f(6) + f(1)", keys: ["enter"] });
  const called = await call("terminal_wait", { terminal_id, for: "regex", pattern: "^49$" });
  expect(called.matched).toBe(true);
  await call("terminal_type", { terminal_id, keys: ["ctrl+d"] });
  const ended = await call("terminal_wait", { terminal_id, for: "exit" });
  expect(ended).toMatchObject({ matched: true, state: { exit_code: 0 } });
});

test("a full-screen agent is driven: a paste of two lines, and its answer", async () => {
  await using terminals = await leaseTerminals();
  const { call } = terminals;
  const { terminal_id } = await call("terminal_open", { command: openAgent });
  const hello = await call("terminal_wait", { terminal_id, for: "text", text: "╰──" });
  expect(hello).toMatchObject({ alternate: true, title: "screen agent" });
  await call("terminal_type", {
    terminal_id,
    text: "line one\nline two",
    paste: true,
    keys: ["enter"],
    settle: 0,
  });
  const text = "you wrote 2 lines, the last is line two";
  const answer = await call("terminal_wait", { terminal_id, for: "text", text });
  expect(answer.matched).toBe(true);
  expect(answer.screen).toContain("you: line one\nyou: line two\nagent:");
  expect(answer.screen).not.toContain("thinking");
});
