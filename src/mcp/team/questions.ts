import { type InputRequest, inputRequired, inputResponse } from "@modelcontextprotocol/server";
import * as z from "zod";
import { ApprovalDecision, ElicitationContent } from "#contract/agent/events.ts";
import type { AgentSnapshot, PendingApproval } from "#contract/agent/views.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import { defined } from "#contract/values/defined.ts";

type Form = Parameters<typeof inputRequired.elicit>[0]["requestedSchema"];
type Pending = Pick<AgentSnapshot, "approvals" | "elicitations">;

const INPUT_CHARS = 4000;

const approvalForm: Form = {
  type: "object",
  properties: {
    decision: {
      type: "string",
      title: "Decision",
      description:
        "approve: this call; approve_tool: this tool from now on; approve_session: everything from now on; reject: no",
      enum: [...ApprovalDecision.options],
    },
    reason: { type: "string", title: "Reason", description: "What the agent is told." },
  },
  required: ["decision"],
};

const Decided = z.object({
  decision: ApprovalDecision,
  reason: z.string().max(limits.detail_chars).optional(),
});

/** What a person is asked, under the ids of the questions. */
export function describeQuestions({
  approvals,
  elicitations,
}: Pending): Record<string, InputRequest> {
  const asked = approvals.map((approval): [string, InputRequest] => [
    approval.approval_id,
    inputRequired.elicit({ message: describeApproval(approval), requestedSchema: approvalForm }),
  ]);
  const questions = elicitations.map(
    ({ elicitation_id, message, schema }): [string, InputRequest] => [
      elicitation_id,
      // Flat by the contract, as the protocol wants it.
      inputRequired.elicit({ message, requestedSchema: schema as unknown as Form }),
    ],
  );
  return Object.fromEntries([...asked, ...questions]);
}

function describeApproval({ agent, tool, input, message }: PendingApproval): string {
  if (tool === undefined) return `${agent ?? "The agent"}: ${message}`;
  const call = `${tool} ${JSON.stringify(input)}`;
  const shown = call.length <= INPUT_CHARS ? call : `${call.slice(0, INPUT_CHARS)}…`;
  return `${agent ?? "The agent"} wants to call ${shown}\n${message}`;
}

/** Gives the answers to who asked. What has been answered elsewhere, or was not answered, is left as it is. */
export async function answerAll(
  runtime: Runtime,
  responses: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { approvals, elicitations } = await runtime.snapshot();
  for (const { approval_id } of approvals) {
    const answer = inputResponse(responses, approval_id);
    if (answer.kind !== "elicit") continue;
    const decided = answer.action === "accept" ? Decided.safeParse(answer.content).data : undefined;
    // Whatever is no clear yes is a no.
    await give(runtime.resume({ approval_id, ...(decided ?? { decision: "reject" }) }));
  }
  for (const { elicitation_id } of elicitations) {
    const answer = inputResponse(responses, elicitation_id);
    if (answer.kind !== "elicit") continue;
    const { action } = answer;
    const content =
      action === "accept" ? ElicitationContent.safeParse(answer.content).data : undefined;
    const accepted = defined({ content });
    await give(runtime.answerElicitation({ elicitation_id, action, ...accepted }));
  }
}

type Question = Extract<AnyEvent, { type: "approval.requested" | "elicitation.requested" }>;

export function isQuestion(event: AnyEvent): event is Question {
  return event.type === "approval.requested" || event.type === "elicitation.requested";
}

/** Where nobody can be asked. */
export async function refuseQuestion(runtime: Runtime, question: Question): Promise<void> {
  if (question.type === "elicitation.requested") {
    const { elicitation_id } = question;
    return await give(runtime.answerElicitation({ elicitation_id, action: "decline" }));
  }
  const { approval_id } = question;
  const reason = "nobody is there who could answer";
  await give(runtime.resume({ approval_id, decision: "reject", reason }));
}

/** Somebody else may have been faster. */
async function give(answer: Promise<void>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "nothing_pending") throw error;
  }
}
