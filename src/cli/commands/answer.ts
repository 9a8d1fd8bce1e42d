import { type AnswerPlan, fillForm, fillOnlyField, parseAnswer } from "#cli/control/answer-plan.ts";
import { askedText, warnOfHidden } from "#cli/control/asked-text.ts";
import { listFields } from "#cli/control/form.ts";
import { openTarget, printJson, targetOptions } from "#cli/control/target-options.ts";
import { notice } from "#cli/program/exit.ts";
import { parseOptions } from "#cli/program/options.ts";
import { printable } from "#cli/program/printable.ts";
import type { ApprovalDecision } from "#contract/agent/events.ts";
import type { AgentSnapshot, PendingApproval, PendingElicitation } from "#contract/agent/views.ts";
import { Fault } from "#contract/fault.ts";
import { createBackend } from "#contract/runtime/create-backend.ts";
import { defined } from "#contract/values/defined.ts";

type Pending = Pick<AgentSnapshot, "approvals" | "elicitations">;

/** `reins answer`: what an agent waits for is answered from anywhere. Without an answer it shows what is asked. */
export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    ...targetOptions,
    id: { type: "string" },
    reason: { type: "string" },
    decline: { type: "boolean" },
  });
  const plan = parseAnswer(positionals, values);
  await using target = await openTarget(values);
  const { session_id } = target.session;
  await using runtime = await createBackend(target.client).open(session_id);
  const pending = choose(await runtime.snapshot(), values.id, session_id);
  if (plan.kind === "show") {
    process.stdout.write(values.json === true ? `${JSON.stringify(pending)}\n` : show(pending));
    return 0;
  }
  if (plan.kind === "decide") {
    const { approval_id } = pickApproval(pending);
    const { decision, reason } = plan;
    await runtime.resume({ approval_id, decision, ...defined({ reason }) });
    return report({ session_id, approval_id, decision }, values.json);
  }
  const question = pickQuestion(pending);
  const { elicitation_id } = question;
  const answer = createAnswer(plan, question);
  await runtime.answerElicitation({ elicitation_id, ...answer });
  return report({ session_id, elicitation_id, ...answer }, values.json);
}

interface Answered {
  readonly session_id: string;
  readonly approval_id?: string;
  readonly elicitation_id?: string;
  readonly decision?: ApprovalDecision;
  readonly action?: "accept" | "decline";
}

function report(answered: Answered, json: boolean | undefined): number {
  if (json === true) printJson(answered);
  const { session_id, approval_id, elicitation_id, decision, action } = answered;
  notice(`answered ${approval_id ?? elicitation_id} of ${session_id}: ${decision ?? action}`);
  return 0;
}

function createAnswer(
  plan: Extract<AnswerPlan, { kind: "fill" | "value" | "decline" }>,
  { schema }: PendingElicitation,
) {
  if (plan.kind === "decline") return { action: "decline" } as const;
  const form = listFields(schema);
  const content =
    plan.kind === "value" ? fillOnlyField(form, plan.value) : fillForm(form, plan.fields);
  return { action: "accept", content } as const;
}

/** What is pending, or the one that was named. */
function choose(snapshot: Pending, id: string | undefined, session_id: string): Pending {
  const approvals = snapshot.approvals.filter((one) => id === undefined || one.approval_id === id);
  const elicitations = snapshot.elicitations.filter(
    (one) => id === undefined || one.elicitation_id === id,
  );
  if (approvals.length + elicitations.length > 0) return { approvals, elicitations };
  throw new Fault(
    "nothing_pending",
    id === undefined
      ? `${session_id} waits for no answer`
      : `${session_id} does not wait for ${JSON.stringify(id)}, or no longer`,
  );
}

function pickApproval({ approvals, elicitations }: Pending): PendingApproval {
  const [first, ...others] = approvals;
  if (first === undefined) {
    const [question] = elicitations;
    throw new Fault(
      "invalid_request",
      `it asks a question, which is answered by FIELD=VALUE or --decline: ${question?.message ?? ""}`,
    );
  }
  refuseSeveral([first, ...others].map(({ approval_id }) => approval_id));
  return first;
}

function pickQuestion({ approvals, elicitations }: Pending): PendingElicitation {
  const [first, ...others] = elicitations;
  if (first === undefined) {
    const [approval] = approvals;
    throw new Fault(
      "invalid_request",
      `it asks whether it may, which is answered by approve or reject: ${approval?.message ?? ""}`,
    );
  }
  refuseSeveral([first, ...others].map(({ elicitation_id }) => elicitation_id));
  return first;
}

function refuseSeveral(ids: readonly string[]): void {
  if (ids.length === 1) return;
  throw new Fault("ambiguous_target", `it waits for ${ids.join(" and ")}: say which with --id`, {
    details: { ids },
  });
}

function show({ approvals, elicitations }: Pending): string {
  const asked = approvals.map(({ approval_id, message, tool, input }) => {
    const call = tool === undefined ? "" : ` ${tool} ${JSON.stringify(input)}`;
    return [`${approval_id} ${message}${call}`, ...warnOfHidden([tool, input, message])];
  });
  const questions = elicitations.map(({ elicitation_id, message, schema }) => [
    `${elicitation_id} ${message}`,
    ...warnOfHidden([message, schema]),
    ...listFields(schema).map(({ name, label, type, choices, isRequired }) => {
      const values = choices.length === 0 ? type : choices.join("|");
      return `  ${name}=${values}${isRequired ? "" : " (may be left out)"}${label === name ? "" : ` ${label}`}`;
    }),
  ]);
  const lines = [...asked, ...questions].flat();
  // Only the line of a field begins with two spaces: a line end in a message becomes a blank.
  return lines.map((line) => `${printable(askedText(line))}\n`).join("");
}
