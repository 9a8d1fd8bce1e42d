import type {
  Framing,
  MessagePart,
  StopReason,
  TranscriptMessage,
} from "#contract/agent/message.ts";
import type { AssistantPart } from "#model/model.ts";

/** What was said and done, with everything that a model wants back. */
export type HistoryItem =
  | {
      readonly kind: "user";
      readonly message_id: string;
      readonly at: string;
      readonly content: readonly MessagePart[];
      readonly origin: "message" | "steer" | "followup" | "system";
      readonly framing: Framing;
    }
  | {
      readonly kind: "assistant";
      readonly message_id: string;
      readonly at: string;
      readonly agent: string;
      readonly model: string;
      readonly parts: readonly AssistantPart[];
      readonly stop_reason: StopReason;
      readonly interrupted: boolean;
    }
  | {
      readonly kind: "tool";
      readonly call_id: string;
      readonly tool: string;
      readonly at: string;
      readonly output: string;
      readonly is_error: boolean;
      readonly images: readonly MessagePart[];
    }
  | {
      readonly kind: "summary";
      readonly at: string;
      readonly text: string;
      /** The first message that it does not stand for, though it comes before it; undefined = there is none. */
      readonly kept_from: string | undefined;
    }
  | {
      readonly kind: "error";
      readonly at: string;
      readonly code: string;
      readonly message: string;
    };

export function asTranscript(item: HistoryItem): TranscriptMessage {
  if (item.kind === "assistant") return describeAnswer(item);
  if (item.kind === "tool") {
    const { kind: _, images, ...rest } = item;
    return { role: "tool", ...rest, ...(images.length === 0 ? {} : { images: [...images] }) };
  }
  if (item.kind === "user") {
    const { kind: _, framing: _framing, content, ...rest } = item;
    return { role: "user", ...rest, content: [...content] };
  }
  if (item.kind === "summary") return { role: "summary", at: item.at, text: item.text };
  const { kind, ...rest } = item;
  return { role: kind, ...rest };
}

function describeAnswer(item: Extract<HistoryItem, { kind: "assistant" }>): TranscriptMessage {
  const { message_id, at, agent, model, parts, stop_reason, interrupted } = item;
  const reasoning = textOf(parts, "reasoning");
  return {
    role: "assistant",
    message_id,
    at,
    agent,
    model,
    text: textOf(parts, "text"),
    ...(reasoning === "" ? {} : { reasoning }),
    tool_calls: callsOf(parts),
    stop_reason,
    ...(interrupted ? { interrupted } : {}),
  };
}

export function textOf(parts: readonly AssistantPart[], type: "text" | "reasoning"): string {
  return parts.flatMap((part) => (part.type === type ? [part.text] : [])).join("");
}

export function callsOf(parts: readonly AssistantPart[]) {
  return parts.flatMap((part) =>
    part.type === "tool_call"
      ? // What came as JSON is JSON.
        [{ call_id: part.call_id, tool: part.tool, input: part.input as null }]
      : [],
  );
}
