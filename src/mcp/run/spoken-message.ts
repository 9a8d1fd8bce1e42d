import * as z from "zod";
import type { MessagePart, TranscriptMessage } from "#contract/agent/message.ts";
import { defined } from "#contract/values/defined.ts";

/** A message of the transcript as a model reads it: text, and of an image only that there was one. */
export const SpokenMessage = z.strictObject({
  role: z.enum(["user", "assistant", "tool", "summary", "error"]),
  at: z.string(),
  text: z.string(),
  agent: z.string().optional().describe("Of an assistant: which agent spoke."),
  tool_calls: z
    .array(z.strictObject({ call_id: z.string(), tool: z.string(), input: z.json() }))
    .optional(),
  call_id: z.string().optional().describe("Of a tool: which call this answers."),
  tool: z.string().optional(),
  is_error: z.boolean().optional(),
  interrupted: z.boolean().optional(),
  code: z.string().optional().describe("Of an error: the code of its fault."),
});
export type SpokenMessage = z.infer<typeof SpokenMessage>;

export function describeMessage(message: TranscriptMessage): SpokenMessage {
  const { role, at } = message;
  switch (message.role) {
    case "user":
      return { role, at, text: sayParts(message.content) };
    case "assistant": {
      const { text, agent, tool_calls, interrupted } = message;
      const cut = defined({ interrupted });
      return { role, at, text, agent, ...(tool_calls.length === 0 ? {} : { tool_calls }), ...cut };
    }
    case "tool": {
      const { call_id, tool, is_error, output, images = [] } = message;
      const shown = images.length === 0 ? "" : `\n${sayParts(images)}`;
      return { role, at, text: `${output}${shown}`, call_id, tool, is_error };
    }
    case "summary":
      return { role, at, text: message.text };
    case "error":
      return { role, at, text: message.message, code: message.code };
  }
}

function sayParts(parts: readonly MessagePart[]): string {
  return parts
    .map((part) => (part.type === "text" ? part.text : `[an image, ${part.media_type}]`))
    .join("\n");
}
