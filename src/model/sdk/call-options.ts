import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import { defined } from "#contract/values/defined.ts";
import type { ModelConfig, ThinkingBudget } from "#model/config.ts";
import type { ModelRequest } from "#model/model.ts";
import type { ModelSource } from "#model/source.ts";
import { COMPATIBLE, usesOpenaiPackage } from "./load-language-model.ts";
import { toPrompt } from "./prompt.ts";

type Options = NonNullable<LanguageModelV4CallOptions["providerOptions"]>[string];
type Schema = LanguageModelV4FunctionTool["inputSchema"];
type Effort = "none" | "low" | "medium" | "high";

/** Where only an effort can be said, so many tokens are a low or a medium one. */
const LOW_EFFORT_TOKENS = 4096;
const MEDIUM_EFFORT_TOKENS = 16_384;
/** Anthropic takes no less. */
const LEAST_THINKING_TOKENS = 1024;

/** Everything that one request to a provider says. */
export function toCallOptions(
  request: ModelRequest,
  source: ModelSource,
): LanguageModelV4CallOptions {
  const { config } = source;
  return defined({
    prompt: toPrompt(request.messages, source),
    maxOutputTokens: least(config.max_tokens, request.max_output_tokens),
    temperature: config.temperature,
    topP: config.top_p,
    frequencyPenalty: config.frequency_penalty,
    presencePenalty: config.presence_penalty,
    tools: request.tools.length === 0 ? undefined : request.tools.map(toTool),
    responseFormat: toResponseFormat(request),
    reasoning: toReasoning(source),
    providerOptions: { [optionsName(source)]: toProviderOptions(request, source) },
  });
}

function toTool(tool: ModelRequest["tools"][number]): LanguageModelV4FunctionTool {
  return {
    type: "function",
    name: tool.name,
    description: tool.description,
    // A JSON Schema is passed on as it is; the provider judges it.
    inputSchema: tool.input_schema as Schema,
  };
}

function toResponseFormat({ structured_output: wanted }: ModelRequest) {
  if (wanted === undefined) return undefined;
  return defined({
    type: "json" as const,
    name: wanted.name,
    description: wanted.description,
    // As above.
    schema: wanted.schema as Schema,
  });
}

/** An effort; a budget in tokens is an option of the provider where there is such a thing. */
function toReasoning({ api, config }: ModelSource): Effort | undefined {
  const budget = config.thinking_budget;
  if (budget === undefined || typeof budget === "string") return budget;
  if (budget === 0) return "none";
  if (api === "anthropic" || api === "google") return undefined;
  if (budget <= LOW_EFFORT_TOKENS) return "low";
  return budget <= MEDIUM_EFFORT_TOKENS ? "medium" : "high";
}

function toProviderOptions(request: ModelRequest, source: ModelSource): Options {
  const { config } = source;
  return defined({ ...ownOptions(request, source), ...config.provider_opts });
}

function ownOptions(request: ModelRequest, source: ModelSource): Options {
  const { config } = source;
  const strictJsonSchema = request.structured_output?.strict;
  if (source.api === "anthropic") {
    return {
      disableParallelToolUse:
        config.parallel_tool_calls === undefined ? undefined : !config.parallel_tool_calls,
      ...anthropicThinking(config.thinking_budget),
    };
  }
  if (source.api === "google") return googleThinking(config.thinking_budget);
  if (usesOpenaiPackage(source)) {
    // Nothing is kept at the provider: the history is ours, and it is sent whole.
    return { store: false, parallelToolCalls: config.parallel_tool_calls, strictJsonSchema };
  }
  return { parallel_tool_calls: config.parallel_tool_calls, strictJsonSchema };
}

function anthropicThinking(budget: ThinkingBudget | undefined): Options {
  if (typeof budget !== "number" || budget === 0) return {};
  const budgetTokens = Math.max(budget, LEAST_THINKING_TOKENS);
  return { thinking: { type: "enabled", budgetTokens } };
}

function googleThinking(budget: ThinkingBudget | undefined): Options {
  if (budget === undefined || budget === 0 || budget === "none") return {};
  const tokens = typeof budget === "number" ? { thinkingBudget: budget } : {};
  return { thinkingConfig: { includeThoughts: true, ...tokens } };
}

function optionsName(source: ModelSource): string {
  if (source.api === "anthropic" || source.api === "google") return source.api;
  return usesOpenaiPackage(source) ? "openai" : COMPATIBLE;
}

function least(a: ModelConfig["max_tokens"], b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}
