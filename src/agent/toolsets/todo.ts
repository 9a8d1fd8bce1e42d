import * as z from "zod";
import { defineTool, reads } from "#agent/define-tool.ts";
import type { ToolsetConfig } from "#agent/team/team.ts";
import type { ToolOutcome, Toolset } from "#agent/toolset.ts";
import type { Logger } from "#base/logger.ts";
import { createFixedToolset } from "./fixed-toolset.ts";

const TODOS = 100;
const TODO_CHARS = 500;

const Todo = z.strictObject({
  text: z
    .string()
    .min(1)
    .max(TODO_CHARS)
    .describe("What is to be done, so that it can be checked when it is done."),
  status: z
    .enum(["pending", "in_progress", "done"])
    .describe("Have one in_progress at a time; set done as soon as it is done, not before."),
});
const TodoList = z
  .array(Todo)
  .max(TODOS)
  .describe("The whole list in order; it replaces the one before. An empty list clears it.");
const TodoState = z.object({ todos: TodoList });
type Todo = z.infer<typeof Todo>;

interface TodoDeps {
  readonly log: Logger;
  readonly restored: ToolOutcome["state"];
}

const MARKS: Readonly<Record<Todo["status"], string>> = {
  pending: "[ ]",
  in_progress: "[>]",
  done: "[x]",
};

/** A list of steps that outlives the worker: each change is in the result's state, and the last one comes back. */
export function createTodoToolset(config: ToolsetConfig, { log, restored }: TodoDeps): Toolset {
  let todos = restore(restored, log);
  return createFixedToolset(config, {
    kind: "todo",
    tools: [
      defineTool({
        name: "todo_write",
        description:
          "Keep a list of the steps of your work, so that none is forgotten and people see how far you are. Use it for work of three steps or more: write all steps first, then write the whole list again each time that a step begins or ends or a new one is found.",
        input: z.strictObject({ todos: TodoList }),
        // The list is the agent's own; nothing outside of it changes.
        hints: reads,
        run: (input) => {
          todos = input.todos;
          return { output: sayTodos(todos), state: { todos: input.todos } };
        },
      }),
      defineTool({
        name: "todo_read",
        description:
          "Read the list of steps as it stands. Use it when you are no longer sure what is left, for example after a long piece of work or a summary.",
        input: z.strictObject({}),
        hints: reads,
        run: () => sayTodos(todos),
      }),
    ],
  });
}

function restore(restored: TodoDeps["restored"], log: Logger): readonly Todo[] {
  if (restored === undefined) return [];
  const parsed = TodoState.safeParse(restored);
  if (parsed.success) return parsed.data.todos;
  log.warn("a saved list of todos was skipped", { problem: parsed.error.issues[0]?.message });
  return [];
}

function sayTodos(todos: readonly Todo[]): string {
  if (todos.length === 0) return "the list is empty";
  return todos.map(({ text, status }) => `${MARKS[status]} ${text}`).join("\n");
}
