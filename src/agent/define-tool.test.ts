import { expect, test } from "vitest";
import * as z from "zod";
import { createFixedToolset } from "#agent/toolsets/fixed-toolset.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { callerOf, createToolContext } from "#test/harness/tool-context.ts";
import { cutText, type DefinedTool, defineTool, reads } from "./define-tool.ts";

const input = z.strictObject({ n: z.int().min(1).describe("How many.") });
type Run = (given: z.output<typeof input>) => string;

const define = (run: Run, name = "count"): DefinedTool =>
  defineTool({ name, description: "Counts.", input, hints: reads, run });
const open = (...tools: DefinedTool[]) =>
  createFixedToolset(
    { name: "numbers", tools: undefined, instruction: "Count well." },
    { kind: "test", tools },
  );

test("a tool is described by its schema", () => {
  expect(open(define(() => "")).tools()).toEqual([
    {
      name: "count",
      description: "Counts.",
      input_schema: {
        type: "object",
        properties: { n: expect.objectContaining({ type: "integer", description: "How many." }) },
        required: ["n"],
        additionalProperties: false,
      },
      hints: { read_only: true, destructive: false },
    },
  ]);
});

test.each([
  [{}, /^invalid_request: n: /],
  [{ n: 0 }, /^invalid_request: n: /],
  [{ n: "1" }, /^invalid_request: n: /],
  [{ n: 1, m: 2 }, /^invalid_request: .*m/],
])("the input %j is an answer that names the field", async (given, text) => {
  const outcome = await callerOf(open(define(() => "ran")))("count", given);
  expect(outcome).toMatchObject({ is_error: true, output: expect.stringMatching(text) });
});

test("a refusal is an answer, and a bug is thrown", async () => {
  const refuse = define(() => {
    throw new Fault("too_many", "enough");
  });
  expect(await callerOf(open(refuse))("count", { n: 1 })).toEqual({
    output: "too_many: enough",
    is_error: true,
  });
  const fail = define(() => {
    throw new Error("a bug");
  });
  await expect(callerOf(open(fail))("count", { n: 1 })).rejects.toThrow("a bug");
});

test("a call that is interrupted before it begins does nothing", async () => {
  let ran = 0;
  const context = createToolContext();
  context.interrupt();
  const tool = define(() => `${++ran}`);
  expect(await callerOf(open(tool))("count", { n: 1 }, context)).toMatchObject({ is_error: true });
  expect(ran).toBe(0);
});

test("no answer is larger than a result may be", async () => {
  const { output } = await callerOf(open(define(() => "€".repeat(200_000))))("count", { n: 1 });
  expect(Buffer.byteLength(output)).toBeLessThanOrEqual(limits.tool_result_bytes);
  expect(output).toMatch(/€\n\[cut: the whole text has 600000 bytes\]$/);
});

test("a text is cut between characters", () => {
  expect(cutText("short", 5)).toBe("short");
  const cut = cutText("😀".repeat(100), 100);
  expect(cut.isWellFormed()).toBe(true);
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(100);
});

test("only the tools that the team file names exist", async () => {
  const toolset = createFixedToolset(
    { name: "numbers", tools: ["b"], instruction: undefined },
    { kind: "test", tools: [define(() => "a", "a"), define(() => "b", "b")] },
  );
  expect(toolset.tools().map(({ name }) => name)).toEqual(["b"]);
  const call = callerOf(toolset);
  expect(await call("b", { n: 1 })).toEqual({ output: "b" });
  expect(await call("a", { n: 1 })).toEqual({
    output: "there is no tool a in numbers; it has b",
    is_error: true,
  });
});

test("a toolset is ready once it has started, and has nothing else to tell", async () => {
  const toolset = open(define(() => ""));
  expect(toolset).toMatchObject({ name: "numbers", kind: "test", state: "stopped" });
  await toolset.start();
  await toolset.start();
  expect(toolset).toMatchObject({ state: "ready", restartable: false, problem: undefined });
  expect(toolset.instruction).toBe("Count well.");
  expect(await toolset.prompts()).toEqual([]);
  expect(await toolset.runPrompt("x", {})).toBeUndefined();
  expect(toolset.skills()).toEqual([]);
  toolset.onChanged(() => undefined)[Symbol.dispose]();
  await toolset[Symbol.asyncDispose]();
  expect(toolset.state).toBe("stopped");
});
