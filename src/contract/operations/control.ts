import * as z from "zod";
import { Framing } from "#contract/agent/message.ts";
import { limits } from "#contract/limits.ts";
import { AnswerElicitation, IdempotencyKey, Resume } from "./agent-requests.ts";

/** What a program may want of a run, in one line or in one call of a tool. Ids may be left out where only one is meant. */
const Message = z.string().max(limits.message_chars);

export const controlRequests = {
  /** An agent: steers its turn, or begins one. A terminal or a command: types it. */
  send: z.strictObject({
    message: Message,
    /** How a turn that runs is told. */
    framing: Framing.optional(),
    /** A terminal or a command: whether a line ends behind it; unless said otherwise it does. */
    enter: z.boolean().optional(),
    idempotency_key: IdempotencyKey,
  }),
  followup: z.strictObject({ message: Message, idempotency_key: IdempotencyKey }),
  resume: Resume.partial({ approval_id: true, decision: true }),
  elicitation: AnswerElicitation.partial({ elicitation_id: true, action: true }),
  interrupt: z.strictObject({}),
  transcript: z.strictObject({
    limit: z.int().min(1).max(limits.list_most).optional(),
    from: z.int().min(0).optional(),
  }),
  status: z.strictObject({}),
} as const;

export type ControlName = keyof typeof controlRequests;
export type ControlInput<N extends ControlName> = z.output<(typeof controlRequests)[N]>;

export function isControlName(name: unknown): name is ControlName {
  return typeof name === "string" && Object.hasOwn(controlRequests, name);
}
