import * as z from "zod";
import type { HookEvent } from "#agent/team/team.ts";
import { limits } from "#contract/limits.ts";
import type { CommandRun } from "./run-command.ts";

/** What one hook came to. */
export interface HookAnswer {
  /** Why the event is not to go on. */
  readonly blocked?: string | undefined;
  /** Why the whole run is not to go on. */
  readonly stop?: string | undefined;
  /** It did not do its work; the event goes on unless `blocked` says otherwise. */
  readonly failure?: string | undefined;
  readonly input?: HookInput | undefined;
  readonly context?: string | undefined;
  readonly permission?: "allow" | "ask" | undefined;
  readonly system_message?: string | undefined;
}

/** A tool's input before a tool, a text for what the user said. */
export type HookInput = string | Readonly<Record<string, unknown>>;

const Text = z.string().max(limits.hook_output_bytes);

/** What a hook may print. Unknown keys are an error: a misspelt `decision` would block nothing. */
const Printed = z.strictObject({
  continue: z.boolean().optional(),
  stop_reason: Text.optional(),
  decision: z.literal("block").optional(),
  reason: Text.optional(),
  system_message: Text.optional(),
  hook_specific_output: z
    .strictObject({
      permission_decision: z.enum(["allow", "ask", "deny"]).optional(),
      updated_input: z.union([Text, z.record(z.string(), z.json())]).optional(),
      additional_context: Text.optional(),
    })
    .optional(),
});
type Printed = z.infer<typeof Printed>;

const BLOCK_EXIT = 2;

export function readAnswer(event: HookEvent, run: CommandRun): HookAnswer {
  if (run.timed_out) return failed(event, "it took too long");
  if (run.signal !== null) return failed(event, `it was ended by ${run.signal}`);
  const said = run.stderr.trim();
  if (run.exit_code === BLOCK_EXIT) return { blocked: said === "" ? "a hook blocked it" : said };
  if (run.exit_code !== 0) {
    return failed(event, `it exited with ${run.exit_code}${said === "" ? "" : `: ${said}`}`);
  }
  if (run.stdout.trim() === "") return {};
  if (run.truncated) return failed(event, `it printed more than ${limits.hook_output_bytes} bytes`);
  const printed = parsePrinted(run.stdout);
  if (typeof printed === "string") return failed(event, printed);
  return readPrinted(event, printed);
}

/** Before a tool, a hook that did not do its work blocks: it may be there to prevent something. */
export function failed(event: HookEvent, why: string): HookAnswer {
  const failure = `the ${event} hook failed: ${why}`;
  return event === "pre_tool_use" ? { failure, blocked: failure } : { failure };
}

function parsePrinted(text: string): Printed | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "what it printed is not JSON";
  }
  const parsed = Printed.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  return `what it printed is not an answer: ${[...(issue?.path ?? []), issue?.message].join(" ")}`;
}

function readPrinted(event: HookEvent, printed: Printed): HookAnswer {
  const { permission_decision, updated_input, additional_context } =
    printed.hook_specific_output ?? {};
  const problem = checkInput(event, updated_input);
  if (problem !== undefined) return failed(event, problem);
  if (permission_decision !== undefined && event !== "pre_tool_use") {
    return failed(event, "permission_decision has a meaning before a tool only");
  }
  const reason = printed.reason ?? "a hook blocked it";
  const isBlocked = printed.decision === "block" || permission_decision === "deny";
  const stop = printed.continue === false ? (printed.stop_reason ?? reason) : undefined;
  return {
    blocked: isBlocked ? reason : stop,
    stop,
    input: updated_input,
    context: additional_context,
    permission: permission_decision === "deny" ? undefined : permission_decision,
    system_message: printed.system_message,
  };
}

function checkInput(event: HookEvent, input: HookInput | undefined): string | undefined {
  if (input === undefined) return undefined;
  if (event === "pre_tool_use") {
    return typeof input === "string" ? "updated_input must be an object before a tool" : undefined;
  }
  if (event === "on_user_input") {
    return typeof input === "string" ? undefined : "updated_input must be the user's text";
  }
  return "updated_input has a meaning before a tool and for what the user said only";
}
