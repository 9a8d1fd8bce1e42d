import * as z from "zod";
import { ApprovalDecision, ElicitationAction, ElicitationContent } from "#contract/agent/events.ts";
import { Framing } from "#contract/agent/message.ts";
import { limits } from "#contract/limits.ts";
import { controlRequests } from "#contract/operations/control.ts";
import { Since } from "#contract/operations/operation-spec.ts";
import type { ToolHints } from "#contract/tools/tool-spec.ts";
import { SpokenMessage } from "./spoken-message.ts";

interface RunTool {
  readonly description: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  readonly hints: ToolHints & { readonly open_world: boolean };
  /** Makes no sense for a terminal or a command. */
  readonly agentOnly: boolean;
}

const reads = { read_only: true, destructive: false, idempotent: true, open_world: false } as const;
/** What an agent or a program makes of it may be anything. */
const acts = { read_only: false, destructive: true, idempotent: false, open_world: true } as const;

const { send, transcript, resume, elicitation } = controlRequests;

/** How many a call gives that does not say. */
export const TRANSCRIPT_MESSAGES = 50;
export const EVENTS = 200;

/** A run as tools. */
export const runTools = {
  send: {
    description:
      "Say something to the run. An agent is steered in the middle of its turn, or begins one if it is idle; with followup it hears it after its turn. In a terminal or a command it is typed, with Enter.",
    input: z.strictObject({
      message: send.shape.message.describe("What is said or typed."),
      followup: z
        .boolean()
        .optional()
        .describe("Agents only: wait for the end of the turn instead of steering it."),
      framing: Framing.optional().describe(
        "Agents only, how the turn that runs is told: plain, as an instruction, or as a replacement of its task.",
      ),
    }),
    output: z.strictObject({
      status: z
        .enum(["started", "queued", "duplicate", "typed"])
        .describe("`started`: a turn has begun with it; `queued`: the agent hears it soon."),
      turn_id: z.string().optional(),
      position: z.int().optional().describe("In the queue, from 1."),
    }),
    hints: acts,
    agentOnly: false,
  },
  transcript: {
    description:
      "Read what was said and done in the run, the newest messages by default. `position` says where they begin among `total`; ask with `from` for older ones.",
    input: z.strictObject({
      limit: transcript.shape.limit.describe(
        `How many messages; ${TRANSCRIPT_MESSAGES} if absent.`,
      ),
      from: transcript.shape.from.describe("Of the first message; the newest ones if absent."),
    }),
    output: z.strictObject({
      title: z.string(),
      messages: z.array(SpokenMessage),
      position: z.int().describe("Of the first message, among all."),
      total: z.int(),
    }),
    hints: reads,
    agentOnly: true,
  },
  events_since: {
    description:
      "Read what happened in the run since an offset. Give `next` of one answer as `since` of the next call; 0 is the beginning, `tail` is now.",
    input: z.strictObject({
      since: Since.describe("0, `tail`, or `next` of an earlier answer."),
      limit: z
        .int()
        .min(1)
        .max(limits.list_most)
        .optional()
        .describe(`How many events; ${EVENTS} if absent.`),
    }),
    output: z.strictObject({
      events: z.array(z.record(z.string(), z.json())),
      next: z.int().describe("Where the next call goes on."),
      more: z.boolean().describe("Whether there are more already."),
    }),
    hints: reads,
    agentOnly: false,
  },
  approve: {
    description:
      "Answer the agent's question whether it may do something: approve it once, this tool or everything from now on, or reject it.",
    input: z.strictObject({
      decision: ApprovalDecision.describe(
        "approve: this call; approve_tool: this tool from now on; approve_session: everything from now on; reject: no.",
      ),
      approval_id: resume.shape.approval_id.describe("Which one; needed if several wait."),
      reason: resume.shape.reason.describe("What the agent is told."),
    }),
    output: z.strictObject({ approval_id: z.string(), decision: ApprovalDecision }),
    hints: acts,
    agentOnly: true,
  },
  answer: {
    description: "Answer a question that the agent asks, or decline it.",
    input: z.strictObject({
      content: ElicitationContent.optional().describe("The fields of the question's schema."),
      action: ElicitationAction.optional().describe("accept unless said otherwise."),
      elicitation_id: elicitation.shape.elicitation_id.describe(
        "Which one; needed if several wait.",
      ),
    }),
    output: z.strictObject({ elicitation_id: z.string(), action: ElicitationAction }),
    hints: acts,
    agentOnly: true,
  },
  interrupt: {
    description: "Stop what the run does right now; the run itself stays and can be spoken to.",
    input: z.strictObject({}),
    output: z.strictObject({
      interrupted: z.boolean().describe("False when there was nothing to stop."),
    }),
    // Not idempotent: a second one may hit what came after the first.
    hints: { ...acts, open_world: false },
    agentOnly: false,
  },
} as const satisfies Record<string, RunTool>;

export type RunToolName = keyof typeof runTools;
export type RunToolInput<N extends RunToolName> = z.output<(typeof runTools)[N]["input"]>;
export type RunToolOutput<N extends RunToolName> = z.output<(typeof runTools)[N]["output"]>;
