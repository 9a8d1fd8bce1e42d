import { expect, test } from "vitest";
import { describeResult } from "./tool-result.ts";

const ID = "ses_0123456789abcdef";
const running = { success: true, output: "", running: true, wall_duration_ms: 10_000 };

test.each([
  [{ ...running, output: "a" }, ["a", "[still running after 10.0 s]"]],
  [
    {
      ...running,
      success: false,
      timed_out: true,
      error: "command timed out after 10s",
      background_process_id: ID,
    },
    [
      "[still running after 10.0 s]",
      "[error: command timed out after 10s]",
      `[background_process_id: ${ID}]`,
    ],
  ],
  [
    { ...running, success: false, running: false, exit_code: 143, signal: "SIGTERM" },
    ["[exit code 143 after 10.0 s, ended by SIGTERM]"],
  ],
  [
    { ...running, success: false, running: false, error: "the host died", note: "look" },
    ["[no exit code after 10.0 s]", "[error: the host died]", "[note: look]"],
  ],
])("a process is its output, then a line for each thing to know: %j", (value, lines) => {
  expect(textOf("execute", value)).toBe(lines.join("\n"));
});

test("a read says where the next one goes on, and what was left out", () => {
  const truncated = {
    original_bytes: 40_000,
    retained_bytes: 32_000,
    omitted_bytes: 8000,
    strategy: "head_tail",
    spool_offset: 16_000,
  };
  const read = { ...running, output: "x\n", truncated, offset: 0, next_offset: 40_000 };
  expect(textOf("process_output", read)).toBe(
    "x\n[still running after 10.0 s]\n[next_offset: 40000]\n[8000 of 40000 bytes omitted, from offset 16000 on]",
  );
});

test("a screen stands as it is before the rest", () => {
  const state = { kind: "running" };
  const rest = { title: "", alternate: false, cols: 80, rows: 24, offset: 9, state };
  const cursor = { row: 1, col: 2, visible: true };
  const view = { terminal_id: ID, screen: "a\n  b", cursor, ...rest };
  const [first, second, third, ...more] = textOf("terminal_screen", view).split("\n");
  expect([first, second, more]).toEqual(["a", "  b", []]);
  expect(JSON.parse(third ?? "")).toEqual({ terminal_id: ID, cursor, ...rest });
});

test("everything else is one line of JSON", () => {
  const list = { processes: [], omitted: 0 };
  expect(textOf("process_list", list)).toBe('{"processes":[],"omitted":0}');
});

function textOf(name: Parameters<typeof describeResult>[0], value: unknown): string {
  const [block] = describeResult(name, value).content;
  return block?.type === "text" ? block.text : "";
}
