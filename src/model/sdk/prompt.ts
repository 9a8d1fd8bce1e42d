import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { ProviderMetadata } from "#contract/agent/message.ts";
import { isObject } from "#contract/values/is-object.ts";
import type { AssistantPart, ModelContent, ModelMessage, ModelToolResult } from "#model/model.ts";
import type { ModelSource } from "#model/source.ts";

type Of<Role extends LanguageModelV4Message["role"]> = Extract<
  LanguageModelV4Message,
  { role: Role }
>;
type Image = Extract<ModelContent, { type: "image" }>;

/** Some providers refuse an empty one. */
const NO_OUTPUT = "(no output)";

/** The conversation as the provider's package takes it. */
export function toPrompt(
  messages: readonly ModelMessage[],
  source: ModelSource,
): LanguageModelV4Prompt {
  const first = messages.findIndex((message) => message.role !== "system");
  const start = first < 0 ? messages.length : first;
  const system = messages
    .slice(0, start)
    .flatMap((message) => (message.role === "system" ? [message.text] : []))
    .join("\n\n");
  const rest = messages.slice(start).flatMap((message) => toMessages(message, source));
  return system === "" ? rest : [{ role: "system", content: system }, ...rest];
}

function toMessages(message: ModelMessage, source: ModelSource): LanguageModelV4Message[] {
  switch (message.role) {
    case "system":
      // In the middle of a conversation most providers refuse it.
      return [{ role: "user", content: [{ type: "text", text: message.text }] }];
    case "user":
      return dropEmpty({ role: "user", content: message.content.flatMap(toContent) });
    case "assistant":
      return dropEmpty({ role: "assistant", content: toAssistantContent(message, source) });
    case "tool":
      return toToolMessages(message.results, source);
  }
}

function dropEmpty(message: Of<"user"> | Of<"assistant">): LanguageModelV4Message[] {
  return message.content.length === 0 ? [] : [message];
}

function toContent(part: ModelContent): Of<"user">["content"] {
  if (part.type === "image") return [toFile(part)];
  return part.text === "" ? [] : [{ type: "text", text: part.text }];
}

function toFile(image: Image) {
  return {
    type: "file" as const,
    mediaType: image.media_type,
    data: { type: "data" as const, data: image.data_b64 },
  };
}

function toAssistantContent(
  message: Extract<ModelMessage, { role: "assistant" }>,
  source: ModelSource,
): Of<"assistant">["content"] {
  const isOwn = message.model.startsWith(`${source.provider}/`);
  return message.parts.flatMap((part) => toAssistantPart(part, isOwn));
}

/** Signatures and ids mean something to who made them alone; neither does another's reasoning. */
function toAssistantPart(part: AssistantPart, isOwn: boolean): Of<"assistant">["content"] {
  const options = isOwn ? toProviderOptions(part.provider_metadata) : {};
  if (part.type === "tool_call") {
    return [
      {
        type: "tool-call",
        toolCallId: toCallId(part.call_id),
        toolName: part.tool,
        input: isObject(part.input) ? part.input : {},
        ...options,
      },
    ];
  }
  if (part.type === "reasoning") {
    return isOwn ? [{ type: "reasoning", text: part.text, ...options }] : [];
  }
  return part.text === "" ? [] : [{ type: "text", text: part.text, ...options }];
}

function toToolMessages(
  results: readonly ModelToolResult[],
  source: ModelSource,
): LanguageModelV4Message[] {
  const apart: Image[] = [];
  const content = results.map((result) => {
    const images = result.images ?? [];
    const isInside = !result.is_error && source.api !== "openai_chatcompletions";
    if (!isInside) apart.push(...images);
    return {
      type: "tool-result" as const,
      toolCallId: toCallId(result.call_id),
      toolName: result.tool,
      output: toOutput(result, isInside ? images : []),
    };
  });
  if (content.length === 0) return [];
  const message: LanguageModelV4Message = { role: "tool", content };
  if (apart.length === 0) return [message];
  const text = "The images of the tool results above:";
  return [message, { role: "user", content: [{ type: "text", text }, ...apart.map(toFile)] }];
}

function toOutput(
  result: ModelToolResult,
  images: readonly Image[],
): Extract<Of<"tool">["content"][number], { type: "tool-result" }>["output"] {
  const text = result.output === "" ? NO_OUTPUT : result.output;
  if (images.length > 0) {
    return { type: "content", value: [{ type: "text", text }, ...images.map(toFile)] };
  }
  return { type: result.is_error ? "error-text" : "text", value: text };
}

/** Anthropic takes no other characters; call and result change alike. */
function toCallId(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9_-]/g, "_");
}

function toProviderOptions(metadata: ProviderMetadata | undefined) {
  if (metadata === undefined) return {};
  const providerOptions = Object.fromEntries(
    Object.entries(metadata).flatMap(([name, value]) => (isObject(value) ? [[name, value]] : [])),
  );
  return { providerOptions };
}
