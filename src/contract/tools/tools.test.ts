import { expect, test } from "vitest";
import * as z from "zod";
import { tools } from "./tools.ts";

/** What models read before they choose; others build on the names. */

const rows = Object.entries(tools);

test("the tools, their arguments, and what they may do", () => {
  const described = rows.map(([name, { input, hints }]) => {
    const marks = [
      hints.read_only ? "reads" : "acts",
      ...(hints.destructive ? ["destructive"] : []),
      ...(hints.idempotent ? ["idempotent"] : []),
    ];
    return `${name}(${Object.keys(input.shape).join(" ")}) ${marks.join(" ")}`;
  });
  expect(described.slice(0, 6)).toEqual([
    "execute(command timeout workdir run_in_background lifetime env tty idempotency_key label) acts destructive",
    "process_output(process_id since max_bytes wait wait_for pattern) reads idempotent",
    "process_wait(process_id timeout since max_bytes) reads idempotent",
    "process_list(running) reads idempotent",
    "process_signal(process_id signal escalate_after) acts destructive idempotent",
    "process_input(process_id text enter eof) acts destructive",
  ]);
});

test.each(rows)("%s and each of its arguments say when and why", (_, { description, input }) => {
  expect(description).toMatch(/^[A-Z].{40,}[.]$/s);
  for (const [name, field] of Object.entries(input.shape))
    expect([name, describe(field)]).toEqual([name, expect.stringMatching(/^.{10,}$/)]);
});

test.each(rows)("%s can be described to a model as JSON Schema", (_, { input, output }) => {
  expect(z.toJSONSchema(input, { io: "input" })).toMatchObject({ type: "object" });
  expect(z.toJSONSchema(output, { io: "output" })).toMatchObject({ type: "object" });
});

test("execute tells what belongs in the background and never to use &", () => {
  const { description, input } = tools.execute;
  for (const word of ["servers", "watchers", "builds", "never use shell &", "run_in_background"])
    expect(description).toContain(word);
  expect(description).toContain("no exit_code while it runs");
  for (const next of ["process_output", "process_wait", "process_signal"])
    expect(description).toContain(next);
  const { run_in_background, timeout, command, lifetime } = input.shape;
  for (const word of ["servers", "watchers", "builds of more than a few seconds", "Never put &"])
    expect(describe(run_in_background)).toContain(word);
  expect(describe(timeout)).toContain("goes on in the background");
  expect(describe(command)).toContain("no terminal and no input");
  expect(describe(lifetime)).toContain("everything that it started");
});

test("the others tell how to read on, wait and end without asking again and again", () => {
  expect(tools.process_output.description).toContain("next_offset");
  expect(tools.process_output.description).toContain("better than asking again and again");
  expect(tools.process_wait.description).toContain("started in the background");
  expect(tools.process_list.description).toContain("lost an id");
  expect(tools.process_signal.description).toContain("escalate_after");
  expect(tools.process_signal.description).toContain("everything that it started");
  expect(tools.process_input.description).toContain("tty");
});

function describe(field: unknown): string {
  return field instanceof z.ZodType ? (field.description ?? "") : "";
}
