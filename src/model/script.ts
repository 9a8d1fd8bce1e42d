import { isNode, LineCounter, parseDocument } from "yaml";
import * as z from "zod";
import { StopReason } from "#contract/agent/message.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import { failureCauses } from "./failure.ts";

/** How many answers a script may have. */
const SCRIPT_STEPS = 10_000;
const DELTAS = 10_000;
const CALLS = 100;
const WORDS = 100;
const LONGEST_DELAY_MS = 60 * 60_000;

const Text = z.string().max(limits.message_chars);
/** One, or several that all hold. */
const Words = z.union([Text.min(1), z.array(Text.min(1)).min(1).max(WORDS)]);
const Delay = z.number().min(0).max(LONGEST_DELAY_MS);

/** What a request is compared with; all that is given must hold. */
export const Matcher = z.strictObject({
  last_user_contains: Words.optional().describe("In the newest message of the user"),
  last_tool_result_contains: Words.optional().describe(
    "In what tools have answered since the model last spoke",
  ),
  system_contains: Words.optional(),
  tools_include: Words.optional().describe("Tools that the model may call"),
  tools_exclude: Words.optional(),
  tool_error: z
    .boolean()
    .optional()
    .describe("Whether a tool has failed since the model last spoke"),
  last_role: z.enum(["user", "assistant", "tool"]).optional().describe("Who spoke last"),
  has_images: z.boolean().optional().describe("Anywhere in what was sent"),
  structured_output: z.boolean().optional().describe("Whether JSON is asked for"),
  messages_count: z.int().min(0).optional().describe("Without the system's"),
  messages_at_least: z.int().min(0).optional(),
  messages_at_most: z.int().min(0).optional(),
});
export type Matcher = z.infer<typeof Matcher>;

const ToolCall = z
  .strictObject({
    tool: z.string().min(1).max(limits.name_chars),
    input: z.record(z.string(), z.json()).optional().describe("Absent = {}"),
    raw: Text.optional().describe("Instead of an input: what is no JSON object"),
  })
  .refine((call) => call.input === undefined || call.raw === undefined, "give input or raw");

const ScriptError = z.strictObject({
  cause: z.enum(failureCauses),
  status: z.int().min(100).max(599).optional(),
  retry_after_ms: z.int().min(0).optional(),
  message: Text.optional(),
});

/** One answer. */
export const ScriptStep = z
  .strictObject({
    when: Matcher.optional().describe("Played whenever this matches, and not in its turn"),
    expect: Matcher.optional().describe("What must have been sent; if not, the run fails"),
    delay_ms: Delay.optional().describe("Before the first word"),
    every_ms: Delay.optional().describe("Between the pieces"),
    reasoning: z.union([Text, z.array(Text).max(DELTAS)]).optional(),
    text: Text.optional().describe("In one piece; word by word with every_ms"),
    deltas: z.array(Text).max(DELTAS).optional().describe("A text in its pieces"),
    tool_calls: z.array(ToolCall).min(1).max(CALLS).optional(),
    error: ScriptError.optional().describe("Fails, after what is said above"),
    cut: z.literal(true).optional().describe("The connection breaks in the middle"),
    usage: z
      .strictObject({
        input_tokens: z.int().min(0),
        output_tokens: z.int().min(0),
        cached_input_tokens: z.int().min(0).optional(),
        reasoning_tokens: z.int().min(0).optional(),
      })
      .optional()
      .describe("Absent = a token for every four characters"),
    stop_reason: StopReason.optional(),
    repeat: z.literal(true).optional().describe("Played again and again"),
  })
  .refine((step) => step.text === undefined || step.deltas === undefined, "give text or deltas")
  .refine((step) => step.error === undefined || step.cut === undefined, "give error or cut")
  .refine((step) => hasContent(step), "says nothing: give text, deltas, tool_calls, error or cut");
export type ScriptStep = z.infer<typeof ScriptStep>;

export const Script = z.array(ScriptStep).min(1).max(SCRIPT_STEPS);
export type Script = z.infer<typeof Script>;

/** Reads a script file. What is wrong is a `team_invalid` that names the file and the line. */
export function parseScript(text: string, file: string): Script {
  if (text.length > limits.team_chars) {
    throw invalid(file, { message: `is longer than ${limits.team_chars} characters` });
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined) {
    throw invalid(file, { message: broken.message, line: lines.linePos(broken.pos[0]).line });
  }
  const parsed = Script.safeParse(toValue(document, file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = (issue?.path ?? []).map((part) => (typeof part === "number" ? part : String(part)));
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  const start = isNode(node) ? node.range?.[0] : undefined;
  throw invalid(file, {
    message: `${describePath(path)}${issue?.message ?? "is not a script"}`,
    line: start === undefined ? undefined : lines.linePos(start).line,
  });
}

/** A step that ends in a failure leaves no answer behind. */
export function isFailing(step: ScriptStep): boolean {
  return step.error !== undefined || step.cut === true;
}

function hasContent(step: Readonly<Record<string, unknown>>): boolean {
  return ["text", "deltas", "tool_calls", "error", "cut", "reasoning"].some(
    (field) => step[field] !== undefined,
  );
}

function toValue(document: ReturnType<typeof parseDocument>, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw invalid(file, { message: error instanceof Error ? error.message : String(error) });
  }
}

/** Steps are counted as people count. */
function describePath(path: readonly (string | number)[]): string {
  const [first, ...rest] = path;
  if (first === undefined) return "";
  const step = typeof first === "number" ? `step ${first + 1}` : first;
  return `${[step, ...rest].join(".")}: `;
}

function invalid(
  file: string,
  problem: { readonly message: string; readonly line?: number | undefined },
): Fault {
  const where = problem.line === undefined ? file : `${file}:${problem.line}`;
  return new Fault("team_invalid", `${where}: ${problem.message}`, {
    details: { file, ...defined({ line: problem.line }) },
  });
}
