import { askedText, warnOfHidden } from "#cli/control/asked-text.ts";
import { type FieldValue, type FormField, listFields, parseField } from "#cli/control/form.ts";
import { notice, sayFault } from "#cli/program/exit.ts";
import { printable } from "#cli/program/printable.ts";
import type { ApprovalDecision } from "#contract/agent/events.ts";
import type { PendingApproval, PendingElicitation } from "#contract/agent/views.ts";
import { Fault } from "#contract/fault.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import type { Heard, LineInput } from "./line-input.ts";

type Asked = { readonly approval: PendingApproval } | { readonly question: PendingElicitation };

/** Answers what an agent asks. */
export interface Respondent {
  respond(asked: Asked, signal: AbortSignal): Promise<void>;
}

/** Brings questions to who answers them, one at a time; one that somebody else has answered is asked no more. */
export class Questions {
  readonly #respondent: Respondent;
  readonly #open = new Map<string, AbortController>();
  #last: Promise<void> = Promise.resolve();

  constructor(respondent: Respondent) {
    this.#respondent = respondent;
  }

  hear(event: AnyEvent): void {
    if (event.type === "approval.requested") this.ask({ approval: event });
    if (event.type === "elicitation.requested") this.ask({ question: event });
    if (event.type === "approval.resolved") this.#open.get(event.approval_id)?.abort();
    if (event.type === "elicitation.resolved") this.#open.get(event.elicitation_id)?.abort();
  }

  ask(asked: Asked): void {
    const id = "approval" in asked ? asked.approval.approval_id : asked.question.elicitation_id;
    const answered = new AbortController();
    this.#open.set(id, answered);
    this.#last = this.#last.then(async () => {
      try {
        if (!answered.signal.aborted) await this.#respondent.respond(asked, answered.signal);
      } catch (error) {
        // Somebody else was faster, or the turn has ended.
        if (!(error instanceof Fault) || error.code !== "nothing_pending") sayFault(error);
      }
      this.#open.delete(id);
    });
  }

  /** The turn has ended: what is open needs no answer. */
  async settle(): Promise<void> {
    for (const answered of this.#open.values()) answered.abort();
    await this.#last;
  }
}

/** Where nobody answers: everything is refused at once. */
export function createRefusal(runtime: Runtime): Respondent {
  return {
    respond: async (asked) => {
      if ("question" in asked) {
        const { elicitation_id } = asked.question;
        await runtime.answerElicitation({ elicitation_id, action: "decline" });
        return;
      }
      const { approval_id } = asked.approval;
      const reason = "nobody is there who could answer";
      await runtime.resume({ approval_id, decision: "reject", reason });
    },
  };
}

/** Without a terminal somebody else has to answer. */
export function createNotice({ session_id }: Runtime): Respondent {
  return {
    respond: async (asked) => {
      const text = "approval" in asked ? asked.approval.message : asked.question.message;
      notice(
        `it waits for an answer: ${text}; reins run --session ${session_id} in a terminal gives it`,
      );
    },
  };
}

const decisions: Readonly<Record<string, ApprovalDecision>> = {
  y: "approve",
  yes: "approve",
  t: "approve_tool",
  a: "approve_session",
  n: "reject",
  no: "reject",
};

/** The person at this terminal. Who leaves with Ctrl-D leaves the question open. */
export function createPerson(runtime: Runtime, lines: LineInput, onEnd: () => void): Respondent {
  const ask = async (question: string, signal: AbortSignal): Promise<Heard> => {
    const heard = await lines.ask(question, { signal, fresh: true });
    if (heard === "end") onEnd();
    if (heard === "over") process.stdout.write("\n");
    return heard;
  };
  return {
    respond: async (asked, signal) => {
      if ("approval" in asked) await approve(runtime, asked.approval, (text) => ask(text, signal));
      else await answer(runtime, asked.question, (text) => ask(text, signal));
    },
  };
}

type Ask = (question: string) => Promise<Heard>;

async function approve(runtime: Runtime, approval: PendingApproval, ask: Ask): Promise<void> {
  const { approval_id, tool, input, message } = approval;
  const call = tool === undefined ? [] : [`${tool} ${JSON.stringify(input)}`];
  printLines([message, ...call, ...warnOfHidden([tool, input, message])]);
  const question =
    tool === undefined
      ? "go on? [y]es, [n]o: "
      : "allow it? [y]es, [n]o, [t]his tool from now on, [a]ll from now on: ";
  for (;;) {
    const heard = await ask(question);
    if (typeof heard === "string") return;
    const word = heard.line.trim().toLowerCase();
    const decision = Object.hasOwn(decisions, word) ? decisions[word] : undefined;
    if (decision !== undefined) return await runtime.resume({ approval_id, decision });
  }
}

function printLines(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${printable(askedText(line))}\n`);
}

async function answer(runtime: Runtime, question: PendingElicitation, ask: Ask): Promise<void> {
  const { elicitation_id, message, schema } = question;
  printLines([message, ...warnOfHidden([message, schema])]);
  const content: Record<string, FieldValue> = {};
  for (const field of listFields(schema)) {
    const value = await askField(field, ask);
    if (value === "over") return;
    if (value === "decline")
      return await runtime.answerElicitation({ elicitation_id, action: "decline" });
    if (value !== undefined) content[field.name] = value.given;
  }
  await runtime.answerElicitation({ elicitation_id, action: "accept", content });
}

type Given = { readonly given: FieldValue } | "over" | "decline" | undefined;

/** An empty line leaves a field out; one that is needed cannot be left out, so it declines the question. */
async function askField(field: FormField, ask: Ask): Promise<Given> {
  const { label, choices, type, isRequired } = field;
  for (const [index, choice] of choices.entries())
    process.stdout.write(`  ${index + 1}. ${printable(askedText(choice))}\n`);
  const hint = type === "boolean" ? " [y/n]" : "";
  const empty = isRequired ? "empty declines" : "may be empty";
  for (;;) {
    const heard = await ask(`${printable(askedText(label))}${hint} (${empty}): `);
    if (typeof heard === "string") return "over";
    if (heard.line.trim() === "") return isRequired ? "decline" : undefined;
    const given = parseField(field, heard.line);
    if (given !== undefined) return { given };
  }
}
