import { textOf } from "#agent/state/history.ts";
import { ModelHistory } from "#agent/state/model-history.ts";
import { randomId } from "#base/random-id.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import type { Actor, Stage } from "./stage.ts";

interface Sent {
  readonly name: string;
  readonly task: string;
  readonly background: boolean;
  readonly call_id?: string | undefined;
}

interface Sending {
  readonly parent: Pick<Actor, "depth">;
  readonly stage: Stage;
  readonly signal: AbortSignal;
  /** Chosen by who wants to know it before the end. */
  readonly subagent_id?: string | undefined;
}

export interface SubagentEnd {
  readonly outcome: "done" | "failed" | "stopped";
  readonly text: string;
}

/** Runs another agent of the team on a task, in a conversation of its own, under the same permissions and budget. */
export async function runSubagent(sent: Sent, sending: Sending): Promise<SubagentEnd> {
  const { parent, stage, signal } = sending;
  if (parent.depth + 1 > limits.subagents_deep)
    return {
      outcome: "failed",
      text: `Delegations are ${parent.depth} deep, which is as deep as they may be.`,
    };
  const subagent_id = sending.subagent_id ?? randomId("sub");
  const { name, task, background, call_id } = sent;
  const conversation = new ModelHistory();
  const cast = await stage.cast(name);
  const actor: Actor = {
    conversation,
    subagent_id,
    depth: parent.depth + 1,
    signal,
    cast,
    contextTokens: 0,
    stopped: undefined,
    emit: (body) => {
      const event = { ...body, agent: actor.cast.definition.name };
      stage.emit({ ...event, subagent_id });
      // Its own conversation never leaves this process, so the time does not matter.
      conversation.apply({ ...event, at: "", session_id: stage.fold.session_id } as never);
    },
  };
  actor.emit({
    type: "subagent.started",
    name,
    task,
    background,
    ...defined({ call_id }),
  });
  actor.emit({
    type: "message.user",
    message_id: randomId("msg"),
    content: [{ type: "text", text: task }],
    origin: "message",
  });
  const ended = await endOf(actor, stage);
  actor.emit({ type: "subagent.ended", name, ...ended });
  return ended;
}

async function endOf(actor: Actor, stage: Stage): Promise<SubagentEnd> {
  try {
    const { reason, message } = await stage.perform(actor);
    const said = lastText(actor.conversation);
    if (reason === "interrupted") return { outcome: "stopped", text: "It was stopped." };
    if (reason !== "done")
      return {
        outcome: "failed",
        text: `It ended early (${reason}): ${message ?? ""}\n${said}`.trim(),
      };
    return { outcome: "done", text: said === "" ? "It ended without a word." : said };
  } catch (error) {
    if (actor.signal.aborted) return { outcome: "stopped", text: "It was stopped." };
    return { outcome: "failed", text: `It failed: ${String(error)}` };
  }
}

function lastText({ items }: ModelHistory): string {
  const answer = items.findLast((item) => item.kind === "assistant");
  return answer?.kind === "assistant" ? textOf(answer.parts, "text") : "";
}

export function checkTarget(agent: unknown, allowed: readonly string[]): string | undefined {
  if (typeof agent === "string" && allowed.includes(agent)) return undefined;
  return `${JSON.stringify(agent ?? null)} is not one of yours: ${allowed.join(", ") || "you have none"}.`;
}
