import type { TurnEndReason } from "#contract/agent/events.ts";
import type { StopReason } from "#contract/agent/message.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { NoteItem } from "./items.ts";

/** Why a turn has ended, as a phrase; a turn that is done needs none. */
export const turnEnds: Readonly<Record<Exclude<TurnEndReason, "done">, string>> = {
  interrupted: "the turn was interrupted",
  error: "the turn failed",
  limit: "the turn reached its limit",
  loop: "the agent repeated the same call, so the turn was ended",
  budget: "the session used up its budget",
};

/** Why an answer is shorter than it should be. */
export const shortAnswers: Readonly<Partial<Record<StopReason, string>>> = {
  length: "The answer was cut off: it reached the model's limit.",
  content_filter: "The model's provider held back the answer.",
};

type Notice = Pick<NoteItem, "text" | "tone">;

/** Events that only inform, in words. */
export function noticeOf(event: AnyEvent): Notice | undefined {
  switch (event.type) {
    case "agent.switched":
      return { text: `${event.to} continues.`, tone: "plain" };
    case "warning":
    case "limit.reached":
      return warn(event.message);
    case "hook.blocked":
      return warn(`A hook blocked this: ${event.message}`);
    case "model.fallback":
      return warn(
        `${event.failed_model} failed, ${event.fallback_model} continues: ${event.reason}`,
      );
    case "tools.changed":
      if (event.status !== "failed") return undefined;
      return warn(`The tools of ${event.toolset} failed: ${event.message ?? ""}`);
    case "compaction.ended":
      return compactionNotice(event);
    case "turn.ended":
      // An error has a message of its own.
      if (event.reason === "done" || event.reason === "error") return undefined;
      return warn(event.message ?? sentenceOf(turnEnds[event.reason]));
    default:
      return undefined;
  }
}

function warn(text: string): Notice {
  return { text, tone: "warn" };
}

/** A compaction that was applied is a summary instead. */
function compactionNotice({
  outcome,
  message,
}: Extract<AnyEvent, { type: "compaction.ended" }>): Notice | undefined {
  const why = message === undefined ? "." : `: ${message}`;
  if (outcome === "failed") return warn(`The history could not be made shorter${why}`);
  if (outcome === "skipped")
    return { text: `The history was not made shorter${why}`, tone: "plain" };
  return undefined;
}

function sentenceOf(phrase: string): string {
  return `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)}.`;
}
