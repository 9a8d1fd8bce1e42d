import type { Blobs } from "#agent/ports.ts";
import type { HistoryItem } from "#agent/state/history.ts";
import type { Framing, MessagePart } from "#contract/agent/message.ts";
import type { ModelContent, ModelMessage, ModelToolResult } from "#model/model.ts";

interface MessageSource {
  readonly system: string;
  readonly summary: string | undefined;
  readonly items: readonly HistoryItem[];
  /** 0 = all. */
  readonly num_history_items: number;
  readonly supports_images: boolean;
  /** The bytes of a file beside the logs, as base64; undefined when it is gone. */
  readonly readBlob: (name: string) => string | undefined;
}

const NO_RESULT = "There is no result: the call was cut off before it ended.";
const NO_IMAGES = "[an image is left out: this model takes none]";
const GONE = "[an image is left out: its file is gone]";

/** What a model is given to read. Every call in it has exactly one result, whatever happened to the session. */
export function buildMessages(source: MessageSource): ModelMessage[] {
  const messages: ModelMessage[] = [{ role: "system", text: source.system }];
  if (source.summary !== undefined)
    messages.push({
      role: "user",
      content: [{ type: "text", text: frameSummary(source.summary) }],
    });
  const items = chooseItems(source.items, source.num_history_items);
  const results = new Map(
    items.flatMap((item) => (item.kind === "tool" ? [[item.call_id, item]] : [])),
  );
  for (const item of items) {
    if (item.kind === "user")
      messages.push({
        role: "user",
        content: frame(toContent(item.content, source), item.framing),
      });
    if (item.kind !== "assistant") continue;
    messages.push({ role: "assistant", model: item.model, parts: item.parts });
    const calls = item.parts.filter((part) => part.type === "tool_call");
    if (calls.length === 0) continue;
    messages.push({
      role: "tool",
      results: calls.map((call) => toResult(call, results.get(call.call_id), source)),
    });
  }
  return messages;
}

type ImageSource = Pick<MessageSource, "items" | "num_history_items" | "supports_images">;

/** The images that `buildMessages` will ask for, by name, with those of messages that came meanwhile. */
export async function loadImages(
  describe: () => ImageSource,
  blobs: Pick<Blobs, "get">,
): Promise<ReadonlyMap<string, string | undefined>> {
  const loaded = new Map<string, string | undefined>();
  for (;;) {
    const missing = namesOf(describe()).filter((name) => !loaded.has(name));
    if (missing.length === 0) return loaded;
    for (const name of missing) loaded.set(name, await blobs.get(name));
  }
}

function namesOf({ items, num_history_items, supports_images }: ImageSource): string[] {
  if (!supports_images) return [];
  return chooseItems(items, num_history_items).flatMap((item) => {
    const parts = item.kind === "user" ? item.content : item.kind === "tool" ? item.images : [];
    return parts.flatMap((part) =>
      part.type === "image" && part.data_b64 === undefined ? (part.blob ?? []) : [],
    );
  });
}

/** The last ones, and none that answers a message that is left out. The first is never an answer. */
function chooseItems(items: readonly HistoryItem[], most: number): readonly HistoryItem[] {
  if (most === 0 || items.length <= most) return items;
  const late = items.findIndex((item, at) => at >= items.length - most && item.kind === "user");
  if (late !== -1) return items.slice(late);
  // One long turn: what was asked, and its newest steps.
  const asked = items.findLast((item) => item.kind === "user");
  const step = items.findIndex(
    (item, at) => at >= items.length - most && item.kind === "assistant",
  );
  const steps = step === -1 ? [] : items.slice(step);
  return asked === undefined ? steps : [asked, ...steps];
}

function toResult(
  { call_id, tool }: { readonly call_id: string; readonly tool: string },
  item: Extract<HistoryItem, { kind: "tool" }> | undefined,
  source: MessageSource,
): ModelToolResult {
  if (item === undefined) return { call_id, tool, output: NO_RESULT, is_error: true };
  const { output, is_error } = item;
  const content = toContent(item.images, source);
  const images = content.filter((part) => part.type === "image");
  const notes = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return {
    call_id,
    tool,
    output: [output, ...notes].join("\n"),
    is_error,
    ...(images.length === 0 ? {} : { images }),
  };
}

function toContent(parts: readonly MessagePart[], source: MessageSource): ModelContent[] {
  return parts.map((part) => {
    if (part.type === "text") return part;
    if (!source.supports_images) return { type: "text", text: NO_IMAGES };
    const data_b64 =
      part.data_b64 ?? (part.blob === undefined ? undefined : source.readBlob(part.blob));
    if (data_b64 === undefined) return { type: "text", text: GONE };
    return { type: "image", media_type: part.media_type, data_b64 };
  });
}

const framings: Readonly<Record<Framing, string | undefined>> = {
  plain: undefined,
  instruction:
    "The user says this while you work. Finish the step that you are at, then follow it:",
  replacement: "The user has changed their mind. Abandon what you are doing and do this instead:",
};

/** Before what was said, so that images stay where they are. */
function frame(content: ModelContent[], framing: Framing): ModelContent[] {
  const text = framings[framing];
  return text === undefined ? content : [{ type: "text", text }, ...content];
}

function frameSummary(summary: string): string {
  return `This is a summary of the conversation so far. Go on from it.\n\n${summary}`;
}
