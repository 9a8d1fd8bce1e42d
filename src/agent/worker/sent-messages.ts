import type { Blobs } from "#agent/ports.ts";
import type { AgentState } from "#agent/state/agent-state.ts";
import { textOf } from "#agent/state/history.ts";
import { keepImage } from "#agent/turn/calls.ts";
import type { MessagePart, SentMessage } from "#contract/agent/message.ts";
import { Fault } from "#contract/fault.ts";

export interface FreshMessage {
  readonly message_id: string | undefined;
  readonly content: readonly MessagePart[];
}

/**
 * Which of the messages that a caller sent are new. Some callers send their whole history each time: what is known by
 * its id is left out, and so is everything up to the last answer, which must be one that was really given.
 */
export function chooseFresh(
  sent: readonly SentMessage[],
  fold: AgentState,
  blobs: Blobs,
): FreshMessage[] {
  const lastAnswer = sent.findLastIndex(({ role }) => role === "assistant");
  const answer = sent[lastAnswer];
  if (answer !== undefined) checkKnown(answer, fold);
  return sent
    .slice(lastAnswer + 1)
    .filter(({ message_id }) => message_id === undefined || !fold.keys.has(message_id))
    .map(({ message_id, content }) => ({ message_id, content: toParts(content, blobs) }));
}

/** What is to be said later is always the user's. */
export function toQueued(
  sent: readonly SentMessage[],
  blobs: Blobs,
): readonly (readonly MessagePart[])[] {
  if (sent.some(({ role }) => role === "assistant"))
    throw new Fault("invalid_request", "messages: only a user can say something here", {
      details: { field: "messages" },
    });
  return sent.map(({ content }) => toParts(content, blobs));
}

function toParts(content: SentMessage["content"], blobs: Blobs): readonly MessagePart[] {
  const parts: readonly MessagePart[] =
    typeof content === "string"
      ? [{ type: "text", text: content }]
      : content.map((part) => checkImage(keepImage(part, blobs)));
  if (Buffer.byteLength(JSON.stringify(parts)) <= MESSAGE_BYTES) return parts;
  throw new Fault("payload_too_large", `a message has at most ${MESSAGE_BYTES} bytes`, {
    details: { limit_bytes: MESSAGE_BYTES },
  });
}

/**
 * In JSON: the longest text has room in any language, but not when it is full of signs that take six bytes there.
 * Images do not count: they lie in files of their own.
 */
const MESSAGE_BYTES = 800 * 1024;

function checkImage(part: MessagePart): MessagePart {
  if (part.type !== "image" || part.data_b64 !== undefined || part.blob !== undefined) return part;
  throw new Fault("invalid_request", "an image needs data_b64", { details: { field: "messages" } });
}

function checkKnown({ message_id, content }: SentMessage, { conversation }: AgentState): void {
  const text = typeof content === "string" ? content : content.map(partText).join("");
  const isKnown = conversation.items.some(
    (item) =>
      item.kind === "assistant" &&
      (item.message_id === message_id || textOf(item.parts, "text") === text),
  );
  if (isKnown) return;
  throw new Fault(
    "invalid_request",
    "messages: what an assistant said can only be sent again, not made up; send the user's messages",
    { details: { field: "messages" } },
  );
}

function partText(part: MessagePart): string {
  return part.type === "text" ? part.text : "";
}
