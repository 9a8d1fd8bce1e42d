import { expect, test } from "vitest";
import type { Answer } from "#agent/toolset.ts";
import { callerOf, createToolContext } from "#test/harness/tool-context.ts";
import { createUserPromptToolset } from "./user-prompt.ts";

const call = callerOf(
  createUserPromptToolset({
    type: "user_prompt",
    name: "user_prompt",
    tools: undefined,
    instruction: undefined,
  }),
);

async function ask(input: Readonly<Record<string, unknown>>, answer: Answer) {
  const context = createToolContext(answer);
  const outcome = await call("user_prompt", { message: "Well?", ...input }, context);
  return { ...outcome, questions: context.questions };
}

const accept = (content: Answer["content"]): Answer => ({ action: "accept", content });

test("a plain question is asked as a form of one text, and answered by that text", async () => {
  expect(await ask({}, accept({ answer: "yes" }))).toEqual({
    output: "yes",
    questions: [
      {
        message: "Well?",
        schema: {
          type: "object",
          properties: { answer: { type: "string", title: "Answer" } },
          required: ["answer"],
        },
      },
    ],
  });
});

test("options become a choice", async () => {
  const { output, questions } = await ask({ options: ["a", "b"] }, accept({ choice: "b" }));
  expect(output).toBe("b");
  expect(questions[0]?.schema).toMatchObject({ properties: { choice: { enum: ["a", "b"] } } });
  const other = await ask({ options: ["a", "b"] }, accept({ choice: "c" }));
  expect(other).toMatchObject({ is_error: true });
  expect(other.output).toContain("choice is none of a, b");
});

const schema = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2, maxLength: 4, description: "Who" },
    age: { type: "integer", minimum: 0, maximum: 150 },
    share: { type: "number" },
    sure: { type: "boolean", default: false },
  },
  required: ["name"],
};

test("a form is asked as it was given and answered as JSON", async () => {
  const content = { name: "Ann", age: 7, share: 0.5, sure: true };
  const { output, questions } = await ask({ schema }, accept(content));
  expect(JSON.parse(output)).toEqual(content);
  expect(questions[0]?.schema).toEqual(schema);
});

test.each([
  [{}, "name is missing"],
  [{ name: 7 }, "name is not a text"],
  [{ name: "x" }, "name is shorter than 2 characters"],
  [{ name: "xxxxx" }, "name is longer than 4 characters"],
  [{ name: "Ann", age: 1.5 }, "age is not a whole number"],
  [{ name: "Ann", age: -1 }, "age is less than 0"],
  [{ name: "Ann", age: 151 }, "age is more than 150"],
  [{ name: "Ann", share: "half" }, "share is not a number"],
  [{ name: "Ann", sure: "yes" }, "sure is not a boolean"],
  [{ name: "Ann", other: 1 }, "other was not asked for"],
  [{ name: "Ann", toString: 1 }, "toString was not asked for"],
])("the answer %j does not fit: %s", async (content, text) => {
  const outcome = await ask({ schema }, accept(content));
  expect(outcome).toMatchObject({
    is_error: true,
    output: `the answer does not fit the question: ${text}`,
  });
});

test("who declines or dismisses the question is heard by the model", async () => {
  expect(await ask({}, { action: "decline" })).toMatchObject({
    is_error: true,
    output: "the person declined to answer",
  });
  expect(await ask({}, { action: "cancel" })).toMatchObject({
    is_error: true,
    output: "the question was dismissed without an answer",
  });
});

const field = (value: unknown) => ({ schema: { type: "object", properties: { a: value } } });
test.each([
  [{ message: "" }, /message: /],
  [{ options: ["a"] }, /options: /],
  [{ options: ["a", "a"] }, /options: an option is there twice/],
  [{ options: ["a", "b"], schema }, /options: give options or a schema, not both/],
  [{ schema: { type: "object", properties: {} } }, /a form has at least one field/],
  [field({ type: "object", properties: {} }), /schema\.properties\.a/],
  [field({ type: "string", pattern: "(a+)+$" }), /schema\.properties\.a.*pattern/],
  [{ schema: { ...schema, required: ["nobody"] } }, /schema\.required: it names a field/],
])("the question %j is refused before anybody is asked", async (input, text) => {
  const { output, is_error, questions } = await ask(input, accept({}));
  expect({ is_error, questions }).toEqual({ is_error: true, questions: [] });
  expect(output).toMatch(text);
});
