import { Fault } from "#contract/fault.ts";
import type { ApiType, ModelConfig, ProviderConfig } from "./config.ts";
import { createModelFault } from "./failure.ts";

export interface ModelFiles {
  /** A team file's `models`. */
  readonly models: Readonly<Record<string, ModelConfig>>;
  /** A team file's `providers`. */
  readonly providers: Readonly<Record<string, ProviderConfig>>;
}

/** Where a model is and how it is spoken to. */
export interface ModelSource {
  /** As `provider/model`. */
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly api: ApiType | "scripted";
  readonly base_url: string;
  /** The environment variable that says another one, when the file says none. */
  readonly base_url_name?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Environment variables that may hold its key, the first one found is taken; none = it needs no key. */
  readonly key_names: readonly string[];
  readonly config: ModelConfig;
}

interface BuiltIn {
  readonly api: ApiType;
  readonly base_url: string;
  /** As the provider's own packages and programs know it. */
  readonly base_url_name?: string;
  readonly key_names: readonly string[];
}

const builtIns: Readonly<Record<string, BuiltIn>> = {
  openai: {
    api: "openai_responses",
    base_url: "https://api.openai.com/v1",
    base_url_name: "OPENAI_BASE_URL",
    key_names: ["OPENAI_API_KEY"],
  },
  anthropic: {
    api: "anthropic",
    base_url: "https://api.anthropic.com/v1",
    base_url_name: "ANTHROPIC_BASE_URL",
    key_names: ["ANTHROPIC_API_KEY"],
  },
  google: {
    api: "google",
    base_url: "https://generativelanguage.googleapis.com/v1beta",
    key_names: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
  },
  ollama: { api: "openai_chatcompletions", base_url: "http://127.0.0.1:11434/v1", key_names: [] },
};

/** Providers that need no entry in a file. */
export const builtInProviders: readonly string[] = [...Object.keys(builtIns), "scripted"];

/** A name of the file's models, or `provider/model`; what leads nowhere is a Fault with the names that do. */
export function getSource(files: ModelFiles, reference: string): ModelSource {
  const config = Object.hasOwn(files.models, reference)
    ? files.models[reference]
    : inlineConfig(reference);
  if (config === undefined) throw unknownModel(files, reference);
  if (config.provider === "scripted") return scriptedSource(config, reference);
  return providerSource(files, config);
}

/** The environment variables whose keys these models need; those that lead nowhere need none. */
export function keyNames(
  models: ModelFiles["models"],
  providers: ModelFiles["providers"],
  references: readonly string[],
): string[] {
  return namesOf({ models, providers }, references, ({ key_names }) => key_names);
}

/** The environment variables that may say where these models are. They are not secret. */
export function addressNames(files: ModelFiles, references: readonly string[]): string[] {
  return namesOf(files, references, ({ base_url_name }) =>
    base_url_name === undefined ? [] : [base_url_name],
  );
}

function namesOf(
  files: ModelFiles,
  references: readonly string[],
  pick: (source: ModelSource) => readonly string[],
): string[] {
  const names = references.flatMap((reference) => {
    try {
      return pick(getSource(files, reference));
    } catch (error) {
      // Opening the model reports it.
      if (error instanceof Fault) return [];
      throw error;
    }
  });
  return [...new Set(names)];
}

/**
 * Where the model is, by the environment if that says so. Anthropic's variable names the server, and its packages add
 * the version; OpenAI's has it.
 */
export function getBaseUrl(
  { base_url, base_url_name, api, id }: ModelSource,
  variables: Readonly<Record<string, string>>,
): string {
  const name = base_url_name ?? "";
  const said = Object.hasOwn(variables, name) ? (variables[name] ?? "").trim() : "";
  if (said === "") return base_url;
  if (!URL.canParse(said) || !/^https?:$/.test(new URL(said).protocol))
    throw new Fault(
      "invalid_request",
      `${name}: ${JSON.stringify(said)} is not an http or https URL, so ${id} cannot be reached`,
    );
  const plain = said.replace(/\/+$/, "");
  return api === "anthropic" && !/\/v\d+$/.test(plain) ? `${plain}/v1` : plain;
}

/** Undefined when none is needed. */
export function getKey(
  source: ModelSource,
  keys: Readonly<Record<string, string>>,
): string | undefined {
  if (source.key_names.length === 0) return undefined;
  const name = source.key_names.find((each) => Object.hasOwn(keys, each) && keys[each] !== "");
  const key = name === undefined ? undefined : keys[name];
  if (key !== undefined) return key;
  throw createModelFault(
    { cause: "auth", model: source.id },
    `the key is missing: set ${source.key_names.join(" or ")} in the environment of who starts the run`,
  );
}

function inlineConfig(reference: string): ModelConfig | undefined {
  const slash = reference.indexOf("/");
  if (slash <= 0 || slash === reference.length - 1) return undefined;
  const model = reference.slice(slash + 1);
  return { provider: reference.slice(0, slash), model };
}

function scriptedSource(config: ModelConfig, reference: string): ModelSource {
  const isInline = reference.startsWith("scripted/");
  const model = config.model ?? reference;
  const hasScript = config.script !== undefined || config.script_file !== undefined;
  if (isInline && !hasScript && model !== "echo") {
    throw new Fault(
      "invalid_request",
      `there is no model ${reference}: scripted/echo is built in, others are named in the file's models with their script`,
    );
  }
  return {
    id: `scripted/${model}`,
    provider: "scripted",
    model,
    api: "scripted",
    base_url: "",
    headers: {},
    key_names: [],
    config,
  };
}

function providerSource(files: ModelFiles, config: ModelConfig): ModelSource {
  const { provider, model = "" } = config;
  const own = Object.hasOwn(files.providers, provider) ? files.providers[provider] : undefined;
  const builtIn = Object.hasOwn(builtIns, provider) ? builtIns[provider] : undefined;
  if (own === undefined && builtIn === undefined) throw unknownProvider(files, provider);
  const base_url = config.base_url ?? own?.base_url ?? builtIn?.base_url;
  if (base_url === undefined) {
    throw new Fault("team_invalid", `the provider ${provider} has no base_url; say where it is`);
  }
  const key_name = config.token_key ?? own?.token_key;
  const isSaid = config.base_url !== undefined || own?.base_url !== undefined;
  return {
    id: `${provider}/${model}`,
    provider,
    model,
    api: own?.api_type ?? builtIn?.api ?? "openai_chatcompletions",
    base_url,
    ...(isSaid ? {} : { base_url_name: builtIn?.base_url_name }),
    headers: own?.headers ?? {},
    key_names: key_name === undefined ? (builtIn?.key_names ?? []) : [key_name],
    config,
  };
}

function unknownModel(files: ModelFiles, reference: string): Fault {
  const names = Object.keys(files.models);
  const known = names.length === 0 ? "" : `; the file's models are ${names.join(", ")}`;
  return new Fault(
    "invalid_request",
    `there is no model ${JSON.stringify(reference)}: give a name of the file's models or provider/model${known}`,
  );
}

function unknownProvider(files: ModelFiles, provider: string): Fault {
  const names = [...new Set([...builtInProviders, ...Object.keys(files.providers)])];
  return new Fault(
    "invalid_request",
    `there is no provider ${JSON.stringify(provider)}; known are ${names.join(", ")}`,
  );
}
