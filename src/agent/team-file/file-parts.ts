import * as z from "zod";
import { limits } from "#contract/limits.ts";
import { parseDuration } from "#contract/tools/parse-duration.ts";

const NAME_CHARS = 64;
const LIST_ITEMS = 200;
const MATCHER_CHARS = 500;
const HOOKS = 50;

/** What agents, models, toolsets and commands are called. It starts with a letter, so that maps keep their order. */
export const Name = z
  .string()
  .max(NAME_CHARS, `a name has at most ${NAME_CHARS} characters`)
  .regex(
    /^[A-Za-z][\w-]*$/,
    "a name starts with a letter and has letters, digits, `_` and `-` only",
  );

/** Models are often called by what they are: `gpt-5.1`. */
export const ModelName = z
  .string()
  .max(NAME_CHARS, `a name has at most ${NAME_CHARS} characters`)
  .regex(
    /^[A-Za-z][\w.-]*$/,
    "a name starts with a letter and has letters, digits, `.`, `_` and `-` only",
  );

export const Text = z.string().min(1, "must not be empty");
export const FilePath = Text.max(limits.path_bytes);
export const Count = z.int().min(0);

export const listOf = <S extends z.ZodType>(item: S) => z.array(item).max(LIST_ITEMS);

const EXPECTED_DURATION = 'must be a duration such as "30s", "5m", "1h30m", or a number of seconds';

/** Becomes milliseconds. */
export const Duration = z.union([z.number(), z.string()]).transform((given, context) => {
  const ms = parseDuration(given);
  if (ms !== undefined && ms > 0) return ms;
  context.issues.push({ code: "custom", input: given, message: EXPECTED_DURATION });
  return z.NEVER;
});

/** Values of variables and headers: a port may be written as a number. */
export const TextMap = z.record(
  z.string().min(1),
  z.union([z.string(), z.number(), z.boolean()]).transform(String),
);

const HookEntry = z.strictObject({
  command: Text.describe("The command line. It gets JSON on stdin and may answer JSON."),
  timeout: Duration.optional().describe("How long it may take; a minute unless said otherwise."),
});

const ToolHookEntry = HookEntry.extend({
  matcher: z
    .string()
    .min(1)
    .max(MATCHER_CHARS)
    .optional()
    .describe("A regular expression of the tool's whole name, or `*`; absent = every tool."),
});

const HookList = z.array(HookEntry).max(HOOKS).optional();
const ToolHookList = z.array(ToolHookEntry).max(HOOKS).optional();

export const HooksEntry = z.strictObject({
  session_start: HookList.describe("When a session starts or comes back."),
  session_end: HookList.describe("When a session ends."),
  on_user_input: HookList.describe("Before a message of a person is taken; may block it."),
  pre_tool_use: ToolHookList.describe(
    "Before a tool runs; may block the call or change its input.",
  ),
  post_tool_use: ToolHookList.describe("After a tool has run; may add to what the model reads."),
  stop: HookList.describe("When the agent is about to end its turn."),
});
export type HooksEntry = z.output<typeof HooksEntry>;
