import * as z from "zod";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { TurnEndReason } from "#contract/agent/events.ts";
import type { TeamSummary } from "#contract/agent/views.ts";
import { SessionId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import type { AgentCreate } from "#contract/operations/agent.ts";
import type { RuntimeBackend } from "#contract/runtime/runtime.ts";

export interface TeamServerDeps {
  readonly backend: RuntimeBackend;
  readonly team: TeamSummary;
  readonly agents: readonly ServedAgent[];
  /** A session of one of them. */
  readonly request: (choice: SessionChoice) => AgentCreate;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
}

interface SessionChoice {
  /** The team as it was when it was loaded: a file that changes does not change the tools. */
  readonly teamId: string;
  readonly agent: string;
  readonly isHeadless: boolean;
}

/** An agent that is a tool. */
export interface ServedAgent {
  readonly name: string;
  readonly tool: string;
  readonly description: string;
  /** All of its tools are, and those of whom it gives work to. */
  readonly isReadOnly: boolean;
}

export const AgentInput = z.strictObject({
  message: z
    .string()
    .min(1)
    .max(limits.message_chars)
    .refine((text) => text.trim() !== "", "the message is empty")
    .describe("What the agent is asked or told."),
  session_id: SessionId.optional().describe(
    "Of an earlier answer: goes on with that conversation. Absent: a new one.",
  ),
});

export const AgentOutput = z.strictObject({
  session_id: z.string().describe("Goes on with this conversation in the next call."),
  response: z.string().describe("What the agent said last."),
  reason: TurnEndReason.describe("Why it stopped; `done` when it has finished."),
});
