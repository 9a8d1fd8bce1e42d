import { expect, test } from "vitest";
import type { ToolOutcome } from "#agent/toolset.ts";
import { silentLogger } from "#base/logger.ts";
import { callerOf } from "#test/harness/tool-context.ts";
import { createThinkToolset } from "./think.ts";
import { createTodoToolset } from "./todo.ts";

const common = { name: "x", tools: undefined, instruction: undefined };
const open = (restored?: ToolOutcome["state"], log = silentLogger) =>
  callerOf(createTodoToolset({ type: "todo", ...common }, { log, restored }));

const todos = [
  { text: "build", status: "done" },
  { text: "test", status: "in_progress" },
  { text: "ship", status: "pending" },
];
const shown = "[x] build\n[>] test\n[ ] ship";

test("a list is written as a whole and read again", async () => {
  const call = open();
  expect(await call("todo_read")).toEqual({ output: "the list is empty" });
  expect((await call("todo_write", { todos })).output).toBe(shown);
  expect(await call("todo_read")).toEqual({ output: shown });
  expect((await call("todo_write", { todos: [] })).output).toBe("the list is empty");
});

test("the list comes back from what the last result asked to remember", async () => {
  const { state } = await open()("todo_write", { todos });
  const stored: ToolOutcome["state"] = JSON.parse(JSON.stringify(state));
  expect(await open(stored)("todo_read")).toEqual({ output: shown });
});

test("a remembered list that is damaged is skipped and said", async () => {
  const said: string[] = [];
  const log = { ...silentLogger, warn: (message: string) => void said.push(message) };
  expect(await open({ todos: [{ text: 7 }] }, log)("todo_read")).toEqual({
    output: "the list is empty",
  });
  expect(said).toEqual(["a saved list of todos was skipped"]);
});

test.each([
  [{}, /todos: /],
  [{ todos: [{ text: "x", status: "later" }] }, /todos\.0\.status: /],
  [{ todos: [{ text: "", status: "done" }] }, /todos\.0\.text: /],
  [{ todos: Array(101).fill({ text: "x", status: "done" }) }, /todos: /],
])("a list that is wrong leaves the old one", async (input, text) => {
  const call = open();
  await call("todo_write", { todos });
  expect(await call("todo_write", input)).toMatchObject({
    is_error: true,
    output: expect.stringMatching(text),
  });
  expect((await call("todo_read")).output).toBe(shown);
});

test("a thought is taken and does nothing", async () => {
  const call = callerOf(createThinkToolset({ type: "think", ...common }));
  expect(await call("think", { thought: "hm" })).toEqual({ output: "noted" });
  expect(await call("think", { thought: "" })).toMatchObject({ is_error: true });
});
