import * as z from "zod";
import { defineTool, failed, reads } from "#agent/define-tool.ts";
import type { ToolsetConfig } from "#agent/team/team.ts";
import type { Answer, Question, ToolOutcome, Toolset } from "#agent/toolset.ts";
import { limits } from "#contract/limits.ts";
import { createFixedToolset } from "./fixed-toolset.ts";
import { FlatSchema, findMismatch } from "./flat-schema.ts";

const OPTIONS = 50;
const MESSAGE_CHARS = 10_000;

const UserPrompt = z
  .strictObject({
    message: z
      .string()
      .min(1)
      .max(MESSAGE_CHARS)
      .describe("The question, with all that one needs to know to answer it."),
    options: z
      .array(z.string().min(1).max(limits.title_chars))
      .min(2)
      .max(OPTIONS)
      .refine((options) => new Set(options).size === options.length, "an option is there twice")
      .optional()
      .describe("The answers to choose from; absent: the answer is a text."),
    schema: FlatSchema.optional().describe(
      'For several answers at once: a JSON Schema {"type": "object", "properties": {…}, "required": […]} whose fields are string (also with enum), number, integer or boolean. Not together with options.',
    ),
  })
  .refine(({ options, schema }) => options === undefined || schema === undefined, {
    path: ["options"],
    message: "give options or a schema, not both",
  });
type UserPrompt = z.output<typeof UserPrompt>;

/** Questions to whoever watches the session. */
export function createUserPromptToolset(config: ToolsetConfig): Toolset {
  return createFixedToolset(config, {
    kind: "user_prompt",
    tools: [
      defineTool({
        name: "user_prompt",
        description:
          "Ask the person and wait for the answer. Use it when you cannot go on without a decision, a wish or a fact that only a person knows; not for what you can find out yourself, and not to ask for permission to use a tool. The person may decline: then go on without the answer or stop.",
        input: UserPrompt,
        // Asking changes nothing, and nobody is to be asked whether he may be asked.
        hints: reads,
        run: async (input, { elicit }) => {
          const schema = chooseSchema(input);
          // As it goes over the wire: without what is undefined.
          const asked: Question["schema"] = JSON.parse(JSON.stringify(schema));
          return describeAnswer(schema, await elicit({ message: input.message, schema: asked }));
        },
      }),
    ],
  });
}

function chooseSchema({ options, schema }: UserPrompt): FlatSchema {
  if (schema !== undefined) return schema;
  if (options === undefined)
    return {
      type: "object",
      properties: { answer: { type: "string", title: "Answer" } },
      required: ["answer"],
    };
  return {
    type: "object",
    properties: { choice: { type: "string", title: "Choice", enum: options } },
    required: ["choice"],
  };
}

function describeAnswer(
  schema: FlatSchema,
  { action, content = {} }: Answer,
): ToolOutcome | string {
  if (action === "decline") return failed("the person declined to answer");
  if (action === "cancel") return failed("the question was dismissed without an answer");
  const mismatch = findMismatch(schema, content);
  if (mismatch !== undefined) return failed(`the answer does not fit the question: ${mismatch}`);
  const values = Object.entries(content);
  const [only] = values;
  // One text needs no form around it.
  if (values.length === 1 && typeof only?.[1] === "string") return only[1];
  return JSON.stringify(content);
}
