import type { LanguageModelV4 } from "@ai-sdk/provider";
import { defined } from "#contract/values/defined.ts";
import type { ModelSource } from "#model/source.ts";

/** For providers that want no key: with one at hand their packages never look at the environment. */
const NO_KEY = "none";

/** Names the options and the metadata of providers that speak as OpenAI does. */
export const COMPATIBLE = "compatible";

/**
 * The provider's own package, loaded when its first model is asked: a worker that talks to one provider does not wait
 * for the others. Everything that a package would look up in the environment is given.
 */
export async function loadLanguageModel(
  source: ModelSource,
  { key, fetch }: { readonly key: string | undefined; readonly fetch: typeof globalThis.fetch },
): Promise<LanguageModelV4> {
  const settings = {
    apiKey: key ?? NO_KEY,
    baseURL: source.base_url,
    headers: { ...source.headers },
    fetch,
  };
  switch (source.api) {
    case "openai_responses": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI(settings).responses(source.model);
    }
    case "openai_chatcompletions":
      return await loadChatModel(source, { ...settings, key });
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic(settings).languageModel(source.model);
    }
    case "google": {
      const { createGoogle } = await import("@ai-sdk/google");
      return createGoogle(settings).languageModel(source.model);
    }
    case "scripted":
      throw new Error("a scripted model has no provider");
  }
}

interface ChatSettings {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly headers: Record<string, string>;
  readonly fetch: typeof globalThis.fetch;
  readonly key: string | undefined;
}

async function loadChatModel(
  source: ModelSource,
  { key, ...settings }: ChatSettings,
): Promise<LanguageModelV4> {
  if (usesOpenaiPackage(source)) {
    const { createOpenAI } = await import("@ai-sdk/openai");
    return createOpenAI(settings).chat(source.model);
  }
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const { apiKey: _apiKey, ...rest } = settings;
  return createOpenAICompatible({
    ...rest,
    ...defined({ apiKey: key }),
    name: COMPATIBLE,
    includeUsage: true,
    supportsStructuredOutputs: true,
  }).chatModel(source.model);
}

/** OpenAI's own models know fields that others refuse. */
export function usesOpenaiPackage(source: ModelSource): boolean {
  return source.api === "openai_responses" || source.provider === "openai";
}
