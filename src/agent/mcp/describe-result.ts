import type { CallToolResult, ContentBlock, GetPromptResult } from "@modelcontextprotocol/client";
import { cutText } from "#agent/define-tool.ts";
import type { ToolOutcome } from "#agent/toolset.ts";
import { MessagePart } from "#contract/agent/message.ts";
import { limits } from "#contract/limits.ts";

/** Of one result. */
const IMAGES_MOST = 8;

/** What a model gets to read of a result: texts in order, images beside them, and a line for what cannot be shown. */
export function describeResult(result: CallToolResult): ToolOutcome {
  const { content, structuredContent, isError } = result;
  const pieces = content.map(describeBlock);
  const images = pieces.flatMap(({ image }) => image ?? []);
  const texts = pieces.flatMap(({ text }) => text ?? []);
  if (images.length > IMAGES_MOST)
    texts.push(`[${images.length - IMAGES_MOST} more images were left out]`);
  const said = texts.join("\n");
  const output = said.trim() === "" ? describeSilence(structuredContent, images.length) : said;
  return {
    output: cutText(output, limits.tool_result_bytes),
    ...(isError === true ? { is_error: true } : {}),
    ...(images.length === 0 ? {} : { images: images.slice(0, IMAGES_MOST) }),
  };
}

/** What a prompt says, as one text. */
export function describePrompt({ messages }: GetPromptResult): string {
  const text = messages.map(({ content }) => describeBlock(content).text ?? "[an image]");
  return cutText(text.join("\n\n"), limits.message_chars);
}

interface Piece {
  readonly text?: string;
  readonly image?: MessagePart;
}

interface Media {
  readonly mimeType?: string | undefined;
  readonly data: string;
}

function describeBlock(block: ContentBlock): Piece {
  switch (block.type) {
    case "text":
      return { text: block.text };
    case "image":
      return describeImage(block, "an image");
    case "audio":
      return leftOut("audio", block);
    case "resource_link":
      return { text: `[resource ${block.name}: ${block.uri}]` };
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return { text: `[resource ${resource.uri}]\n${resource.text}` };
      const { uri, mimeType, blob: data } = resource;
      return describeImage({ mimeType, data }, `resource ${uri}`);
    }
  }
}

function describeImage(media: Media, what: string): Piece {
  const image = { type: "image", media_type: media.mimeType, data_b64: media.data };
  const { data } = MessagePart.safeParse(image);
  return data === undefined ? leftOut(what, media) : { image: data };
}

function leftOut(what: string, { mimeType = "unknown type", data }: Media): Piece {
  const bytes = Math.floor((data.length * 3) / 4);
  return { text: `[${what} is not shown: about ${bytes} bytes of ${mimeType}]` };
}

function describeSilence(structured: unknown, images: number): string {
  if (structured !== undefined) return JSON.stringify(structured);
  return images === 0 ? "[the tool ended and said nothing]" : "[the tool answered with an image]";
}
