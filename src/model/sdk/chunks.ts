import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import * as z from "zod";
import { ProviderMetadata, type StopReason } from "#contract/agent/message.ts";
import { defined } from "#contract/values/defined.ts";
import { costOf, type Price } from "#model/catalog.ts";
import type { ModelChunk, ModelUsage } from "#model/model.ts";

type Part = LanguageModelV4StreamPart;
type PartOf<Type extends Part["type"]> = Extract<Part, { type: Type }>;

/** Turns what a provider's package streams into our chunks; one for each answer. */
export class ChunkReader {
  readonly #model: string;
  readonly #price: Price | undefined;
  readonly #metadata = new Map<string, ProviderMetadata>();
  readonly #started = new Set<string>();
  #calls = 0;

  constructor(deps: { readonly model: string; readonly price: Price | undefined }) {
    this.#model = deps.model;
    this.#price = deps.price;
  }

  /** Not for `error`, and not for a finish that says that the stream broke off. */
  read(part: Part): readonly ModelChunk[] {
    switch (part.type) {
      case "text-delta":
        return part.delta === "" ? [] : [{ type: "text_delta", text: part.delta }];
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.#readReasoning(part);
      case "tool-input-start":
        return part.providerExecuted === true ? [] : this.#start(part.id, part.toolName);
      case "tool-input-delta":
        if (!this.#started.has(part.id) || part.delta === "") return [];
        return [{ type: "call_delta", key: part.id, text: part.delta }];
      case "tool-call":
        return part.providerExecuted === true ? [] : this.#readCall(part);
      case "finish":
        return [this.#finish(part)];
      default:
        return [];
    }
  }

  #readReasoning(
    part: PartOf<"reasoning-start" | "reasoning-delta" | "reasoning-end">,
  ): readonly ModelChunk[] {
    const key = part.id;
    const metadata = merge(this.#metadata.get(key), part.providerMetadata);
    if (metadata !== undefined) this.#metadata.set(key, metadata);
    if (part.type === "reasoning-start") return [];
    if (part.type === "reasoning-end") {
      this.#metadata.delete(key);
      return [{ type: "reasoning_end", key, ...withMetadata(metadata) }];
    }
    return part.delta === "" ? [] : [{ type: "reasoning_delta", key, text: part.delta }];
  }

  #start(key: string, tool: string): readonly ModelChunk[] {
    if (this.#started.has(key)) return [];
    this.#started.add(key);
    return [{ type: "call_start", key, tool }];
  }

  #readCall(part: PartOf<"tool-call">): readonly ModelChunk[] {
    const { toolCallId: key, toolName: tool, input: raw } = part;
    this.#calls += 1;
    const end: ModelChunk = {
      type: "call_end",
      key,
      tool,
      input: parseInput(raw),
      raw,
      ...withMetadata(merge(undefined, part.providerMetadata)),
    };
    return [...this.#start(key, tool), end];
  }

  #finish(part: PartOf<"finish">): ModelChunk {
    const reason = stopReasons[part.finishReason.unified];
    return {
      type: "finish",
      model: this.#model,
      // Some servers say "stop" after a call.
      stop_reason: reason === "stop" && this.#calls > 0 ? "tool_calls" : reason,
      usage: this.#usage(part.usage),
    };
  }

  #usage({ inputTokens, outputTokens }: PartOf<"finish">["usage"]): ModelUsage {
    const tokens = {
      input: count(inputTokens.total),
      cached: count(inputTokens.cacheRead),
      written: count(inputTokens.cacheWrite),
      output: count(outputTokens.total),
    };
    const reasoning = count(outputTokens.reasoning);
    return {
      input_tokens: tokens.input,
      output_tokens: tokens.output,
      ...(tokens.cached === 0 ? {} : { cached_input_tokens: tokens.cached }),
      ...(reasoning === 0 ? {} : { reasoning_tokens: reasoning }),
      cost: this.#price === undefined ? null : costOf(this.#price, tokens),
    };
  }
}

const stopReasons: Readonly<Record<PartOf<"finish">["finishReason"]["unified"], StopReason>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
  error: "error",
  interrupted: "error",
  other: "other",
};

const JsonObject = z.record(z.string(), z.unknown());

/** Nothing at all is a call without arguments. */
function parseInput(raw: string): Record<string, unknown> | undefined {
  if (raw.trim() === "") return {};
  try {
    const parsed = JsonObject.safeParse(JSON.parse(raw));
    return parsed.success ? parsed.data : undefined;
  } catch {
    // What a model writes need not be JSON; the caller is told by `raw`.
    return undefined;
  }
}

/** Signatures come in the middle of a block, ids at its start: the block has them all. */
function merge(
  known: ProviderMetadata | undefined,
  more: Readonly<Record<string, object>> | undefined,
): ProviderMetadata | undefined {
  if (more === undefined) return known;
  const merged = Object.entries(more).map(([name, value]) => {
    const before = known?.[name];
    return [name, { ...(typeof before === "object" ? before : {}), ...value }];
  });
  // Fields that are undefined are no JSON, and are gone after this.
  const clean = JSON.parse(JSON.stringify({ ...known, ...Object.fromEntries(merged) }));
  return ProviderMetadata.safeParse(clean).data;
}

function withMetadata(metadata: ProviderMetadata | undefined) {
  return defined({ provider_metadata: metadata });
}

/** Counts are whole and not negative, whatever a server says. */
function count(tokens: number | undefined): number {
  return tokens === undefined || !Number.isFinite(tokens) ? 0 : Math.max(0, Math.round(tokens));
}
