import type { ProviderMetadata, StopReason } from "#contract/agent/message.ts";

/** JSON Schema, as models are given it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Something that a model may call. */
interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonSchema;
}

export type ModelContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly media_type: string; readonly data_b64: string };

export type AssistantPart =
  | {
      readonly type: "text" | "reasoning";
      readonly text: string;
      readonly provider_metadata?: ProviderMetadata | undefined;
    }
  | {
      readonly type: "tool_call";
      readonly call_id: string;
      readonly tool: string;
      readonly input: unknown;
      readonly provider_metadata?: ProviderMetadata | undefined;
    };

export interface ModelToolResult {
  readonly call_id: string;
  readonly tool: string;
  readonly output: string;
  readonly is_error: boolean;
  readonly images?: readonly Extract<ModelContent, { type: "image" }>[] | undefined;
}

export type ModelMessage =
  | { readonly role: "system"; readonly text: string }
  | { readonly role: "user"; readonly content: readonly ModelContent[] }
  | {
      readonly role: "assistant";
      /** Who made it, as `provider/model`: metadata of another provider is of no use and is left out. */
      readonly model: string;
      readonly parts: readonly AssistantPart[];
    }
  | { readonly role: "tool"; readonly results: readonly ModelToolResult[] };

export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** The answer must be JSON of this schema. */
  readonly structured_output?:
    | {
        readonly name: string;
        readonly description?: string | undefined;
        readonly schema: JsonSchema;
        readonly strict?: boolean | undefined;
      }
    | undefined;
  /** For one-shot questions such as a summary. */
  readonly max_output_tokens?: number | undefined;
}

export interface ModelUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_input_tokens?: number | undefined;
  readonly reasoning_tokens?: number | undefined;
  /** US dollars; null when the price is not known. */
  readonly cost: number | null;
}

/**
 * What a model says, in order:
 *
 *   ( reasoning_delta* reasoning_end | text_delta* | call_start call_delta* call_end )* finish
 *
 * `key` tells concurrent blocks apart within one answer. `retry` voids everything since the start: the answer begins
 * anew, perhaps by another model.
 */
export type ModelChunk =
  | { readonly type: "text_delta"; readonly text: string }
  | {
      readonly type: "reasoning_delta";
      readonly key: string;
      readonly text: string;
    }
  | {
      readonly type: "reasoning_end";
      readonly key: string;
      readonly provider_metadata?: ProviderMetadata | undefined;
    }
  | { readonly type: "call_start"; readonly key: string; readonly tool: string }
  | { readonly type: "call_delta"; readonly key: string; readonly text: string }
  /** `input` is undefined when what the model wrote is no JSON object; then `raw` is what it wrote. */
  | {
      readonly type: "call_end";
      readonly key: string;
      readonly tool: string;
      readonly input: Readonly<Record<string, unknown>> | undefined;
      readonly raw: string;
      readonly provider_metadata?: ProviderMetadata | undefined;
    }
  | {
      readonly type: "retry";
      readonly reason: string;
      readonly attempt: number;
      readonly failed_model: string;
      /** Who goes on: the same, or the next of the chain. */
      readonly model: string;
    }
  | {
      readonly type: "finish";
      readonly model: string;
      readonly stop_reason: StopReason;
      readonly usage: ModelUsage;
      readonly provider_metadata?: ProviderMetadata | undefined;
    };

export interface Model {
  /** As `provider/model`. */
  readonly id: string;
  /** Tokens of its context; null when not known. */
  readonly context_limit: number | null;
  readonly supports_images: boolean;
  /**
   * Streams one answer. Fails with a Fault `model_failed`, whose details have
   * `{cause: "context_overflow" | "rate_limited" | "auth" | "refused" | "unavailable" | "timeout" | "malformed" | "script", model, status?}`.
   * An abort ends the request to the provider at once and throws the signal's reason.
   */
  stream(
    request: ModelRequest,
    options: { readonly signal: AbortSignal },
  ): AsyncIterable<ModelChunk>;
}

/** Finds models by what a team file calls them. */
export interface Models {
  /** A name of the file's `models`, or `provider/model`. An unknown one, or one without its key, is a Fault. */
  get(reference: string): Model;
  /** Primary first; retries, backoff, cooldown and the fallbacks are inside. */
  chain(choice: ModelChoice): Model;
}

export interface ModelChoice {
  readonly model: string;
  readonly fallbacks: readonly string[];
  /** Of each model, beyond the first attempt; absent = 2. */
  readonly retries?: number | undefined;
  /** For how long a fallback stays in place of a primary that refused; absent = a minute. */
  readonly cooldown_ms?: number | undefined;
}
