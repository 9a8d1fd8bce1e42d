import { describe, expect, test } from "vitest";
import { callOf } from "#contract/conversation/calls.ts";
import type { CallItem } from "#contract/conversation/items.ts";
import { argumentOf, commandOf, describeStatus, durationOf, sessionsOf } from "./call-words.ts";

const AT = "2026-01-01T00:00:10.000Z";
const ID = "ses_0123456789abcdef";
const make = (change: Partial<CallItem>): CallItem => ({
  ...callOf({ call_id: "c", tool: "execute", at: AT }),
  ...change,
});

test.each([
  [{ timeout: "1s", command: "ls -l" }, "ls -l"],
  [{ edits: [], path: "a.md" }, "a.md"],
  [{ todos: [{ text: "x" }] }, '[{"text":"x"}]'],
  [{ message: "two\n  lines" }, "two lines"],
  ["as it is", "as it is"],
  [{}, ""],
  [undefined, ""],
  [null, ""],
])("%j in a few words is %j", (input, words) => {
  expect(argumentOf(input)).toBe(words);
});

test("a long argument is cut, never in the middle of a character", () => {
  const words = argumentOf({ command: `${"a".repeat(159)}😀${"b".repeat(5000)}` });
  expect(words.length).toBeLessThan(170);
  expect(words.isWellFormed()).toBe(true);
});

test("a command is shown as such only when the call is nothing else", () => {
  expect(commandOf({ command: "ls" })).toBe("ls");
  expect(commandOf({ command: "ls", run_in_background: true })).toBeUndefined();
});

test("a call that runs ticks, one that has ended stands still, and one that waits has no time", () => {
  const now = Date.parse(AT) + 5000;
  const started = { started_at: AT, status: "running" as const };
  expect(durationOf(make(started), now)).toBe(5000);
  const ended_at = "2026-01-01T00:00:12.000Z";
  expect(durationOf(make({ ...started, ended_at, status: "done" }), now)).toBe(2000);
  expect(durationOf(make({ ...started, status: "waiting" }), now)).toBeUndefined();
  expect(durationOf(make({ status: "done", ended_at }), now)).toBeUndefined();
});

test("a command that failed shows its exit code, and a call that does not run yet is queued", () => {
  expect(describeStatus(make({ status: "failed", exit_code: 3 }))).toEqual({
    ...{ text: "exit code 3", tone: "bad" },
  });
  expect(describeStatus(make({ status: "failed" })).text).toBe("failed");
  expect(describeStatus(make({ status: "done", exit_code: 0 })).text).toBe("done");
  expect(describeStatus(make({ status: "queued" })).text).toBe("queued");
});

describe("the sessions of a call", () => {
  const child = { session_id: ID as never, argv: ["bash", "-c", "top"], created_at: AT };
  test("are those that its input or its result name", () => {
    expect(sessionsOf(make({ result: `[background_process_id: ${ID}]` }), [child])).toEqual([
      child,
    ]);
    expect(sessionsOf(make({ input: { terminal_id: ID } }), [child])).toEqual([child]);
    expect(sessionsOf(make({ result: `${ID}f` }), [child])).toEqual([]);
  });
  test("are only such that the agent has started", () => {
    expect(sessionsOf(make({ result: ID }), [])).toEqual([]);
    expect(sessionsOf(make({ result: "ses_zzzzzzzzzzzzzzzz" }), [child])).toEqual([]);
  });
  test("are known by command and moment while it runs", () => {
    const running = make({ input: { command: "top" }, started_at: AT });
    expect(sessionsOf(running, [child])).toEqual([child]);
    const before = { ...child, created_at: "2025-12-31T00:00:00.000Z" };
    expect(sessionsOf(running, [before])).toEqual([]);
    expect(sessionsOf(make({ input: { command: "ls" }, started_at: AT }), [child])).toEqual([]);
  });
});
