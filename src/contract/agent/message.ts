import * as z from "zod";
import { limits } from "#contract/limits.ts";

/** A piece of what a person or a tool says. An image is here, or in a file beside the session's logs. */
export const MessagePart = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string().max(limits.message_chars) }),
  z.strictObject({
    type: z.literal("image"),
    media_type: z.string().regex(/^image\/[a-z0-9.+-]+$/, "looks like image/png"),
    data_b64: z.base64().max(limits.image_b64_chars).optional(),
    /** Name of a file beside the session's logs. */
    blob: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional(),
  }),
]);
export type MessagePart = z.infer<typeof MessagePart>;

/** What a caller sends. A history that is sent again is recognised by its ids and not doubled. */
export const SentMessage = z.strictObject({
  /** `user` unless said otherwise; what an assistant said is only accepted when it is known already. */
  role: z.enum(["user", "assistant"]).optional(),
  message_id: z.string().min(1).max(limits.label_chars).optional(),
  content: z.union([
    z
      .string()
      .min(1)
      .max(limits.message_chars)
      .refine((text) => text.trim() !== "", "the message is empty"),
    z.array(MessagePart).min(1).max(limits.message_parts),
  ]),
});
export type SentMessage = z.infer<typeof SentMessage>;

export const SentMessages = z.array(SentMessage).min(1).max(limits.messages_sent);

export const Framing = z.enum(["plain", "instruction", "replacement"]);
export type Framing = z.infer<typeof Framing>;

export const StopReason = z.enum([
  "stop",
  "length",
  "tool_calls",
  "content_filter",
  "error",
  "other",
]);
export type StopReason = z.infer<typeof StopReason>;

/** What one model call cost. `cost` is in US dollars, null when the model's price is not known. */
export const Usage = z.strictObject({
  input_tokens: z.int().min(0),
  output_tokens: z.int().min(0),
  cached_input_tokens: z.int().min(0).optional(),
  reasoning_tokens: z.int().min(0).optional(),
  cost: z.number().min(0).nullable(),
});
export type Usage = z.infer<typeof Usage>;

/** What a provider wants back with a message that it made (signatures, item ids); opaque to everybody else. */
export const ProviderMetadata = z.record(z.string(), z.json());
export type ProviderMetadata = z.infer<typeof ProviderMetadata>;

/** The transcript of a session: what was said and done, in order, without the pieces it came in. */
export const TranscriptMessage = z.discriminatedUnion("role", [
  z.strictObject({
    role: z.literal("user"),
    message_id: z.string(),
    at: z.iso.datetime(),
    content: z.array(MessagePart),
    origin: z.enum(["message", "steer", "followup", "system"]),
  }),
  z.strictObject({
    role: z.literal("assistant"),
    message_id: z.string(),
    at: z.iso.datetime(),
    agent: z.string(),
    model: z.string(),
    text: z.string(),
    reasoning: z.string().optional(),
    tool_calls: z.array(z.strictObject({ call_id: z.string(), tool: z.string(), input: z.json() })),
    stop_reason: StopReason,
    /** The turn ended before the message did. */
    interrupted: z.boolean().optional(),
  }),
  z.strictObject({
    role: z.literal("tool"),
    call_id: z.string(),
    tool: z.string(),
    at: z.iso.datetime(),
    output: z.string(),
    is_error: z.boolean(),
    images: z.array(MessagePart).optional(),
  }),
  /** A summary stands for everything before it. */
  z.strictObject({
    role: z.literal("summary"),
    at: z.iso.datetime(),
    text: z.string(),
  }),
  /** A turn that failed says so, also after a resume. */
  z.strictObject({
    role: z.literal("error"),
    at: z.iso.datetime(),
    code: z.string(),
    message: z.string(),
  }),
]);
export type TranscriptMessage = z.infer<typeof TranscriptMessage>;
