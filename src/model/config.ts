import * as z from "zod";
import { limits } from "#contract/limits.ts";
import { Script } from "./script.ts";

/** How a provider is spoken to. */
export const ApiType = z.enum([
  "openai_chatcompletions",
  "openai_responses",
  "anthropic",
  "google",
]);
export type ApiType = z.infer<typeof ApiType>;

const KEY_NAME_CHARS = 100;
/** Names are written by people, keys by machines. */
const LONGEST_WORD_CHARS = 24;

const NOT_A_KEY =
  "this looks like a key; give the NAME of the environment variable that holds it, and change the key: it is in a file now";

/** The name of an environment variable. The key itself is never in a file; the sentences do not repeat what they found. */
const KeyName = z
  .string()
  .max(KEY_NAME_CHARS, NOT_A_KEY)
  .refine((text) => !looksLikeKey(text), NOT_A_KEY)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is the name of an environment variable, like MY_API_KEY");

const Address = z
  .string()
  .max(limits.path_bytes)
  .refine((text) => isHttpAddress(text), "is an http or https address without a user or password");

const HeaderName = z.string().regex(/^[A-Za-z0-9-]+$/, "is the name of a header");
const HeaderValue = z
  .string()
  .max(limits.path_bytes)
  .regex(/^[\t\x20-\x7e]*$/, "is one line of plain characters")
  .refine((text) => !text.split(/[\s=]+/).some(looksLikeKey), NOT_A_KEY);
const headersOfKeys = ["authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"];

/** An entry of a team file's `providers`. */
export const ProviderConfig = z.strictObject({
  api_type: ApiType.optional().describe("How it is spoken to; absent = openai_chatcompletions"),
  base_url: Address.optional().describe(
    "Where it is; needed unless the provider is a built-in one",
  ),
  token_key: KeyName.optional().describe("The environment variable with its key; absent = no key"),
  headers: z
    .record(HeaderName, HeaderValue)
    .refine(
      (headers) => !Object.keys(headers).some((name) => headersOfKeys.includes(name.toLowerCase())),
      "keys are not given in headers; name the key's environment variable in token_key",
    )
    .optional()
    .describe("Sent with every request"),
});
export type ProviderConfig = z.infer<typeof ProviderConfig>;

const Price = z.number().min(0);

/** US dollars for a million tokens. */
export const Cost = z.strictObject({
  input: Price,
  output: Price,
  cached_input: Price.optional().describe("Absent = as much as other input"),
});
export type Cost = z.infer<typeof Cost>;

/** An effort, or tokens; 0 and `none` turn it off. */
export const ThinkingBudget = z.union([
  z.enum(["none", "low", "medium", "high"]),
  z.int().min(0).max(1_000_000),
]);
export type ThinkingBudget = z.infer<typeof ThinkingBudget>;

const Penalty = z.number().min(-2).max(2).optional();

/** An entry of a team file's `models`. */
export const ModelConfig = z
  .strictObject({
    provider: z
      .string()
      .min(1)
      .max(limits.name_chars)
      .regex(/^[^/\s]+$/, "has no slash and no blank")
      .describe("openai, anthropic, google, ollama, scripted, or a name of the file's providers"),
    model: z.string().min(1).max(limits.name_chars).optional().describe("As the provider calls it"),
    temperature: z.number().min(0).max(2).optional(),
    max_tokens: z.int().min(1).optional().describe("Of one answer"),
    top_p: z.number().min(0).max(1).optional(),
    frequency_penalty: Penalty,
    presence_penalty: Penalty,
    base_url: Address.optional().describe("Instead of the provider's own"),
    token_key: KeyName.optional().describe("Instead of the provider's own"),
    parallel_tool_calls: z.boolean().optional(),
    thinking_budget: ThinkingBudget.optional(),
    context_limit: z
      .int()
      .min(1)
      .optional()
      .describe("Tokens, when it is not known or is set lower"),
    images: z.boolean().optional().describe("Whether it can be shown images"),
    cost: Cost.optional(),
    provider_opts: z.record(z.string(), z.json()).optional().describe("Passed on to the provider"),
    script: Script.optional().describe("What a scripted model says"),
    script_file: z
      .string()
      .min(1)
      .max(limits.path_bytes)
      .optional()
      .describe("The same, in a file"),
  })
  .superRefine((config, context) => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: "custom", path: [field], message });
    if (config.provider === "scripted") return checkScripted(config, refuse);
    if (config.model === undefined) refuse("model", "says which model of the provider it is");
    for (const field of ["script", "script_file"] as const) {
      if (config[field] !== undefined) refuse(field, "is for the provider scripted alone");
    }
  });
export type ModelConfig = z.infer<typeof ModelConfig>;

interface ScriptedFields {
  readonly model?: string | undefined;
  readonly script?: unknown;
  readonly script_file?: string | undefined;
}

function checkScripted(
  config: ScriptedFields,
  refuse: (field: string, message: string) => void,
): void {
  const given = [config.script, config.script_file].filter((each) => each !== undefined).length;
  if (given === 2) refuse("script_file", "there is a script already; give one of the two");
  if (given === 0 && config.model !== "echo") {
    refuse("script", "a scripted model has a script or a script_file; only `model: echo` has none");
  }
  if (config.script_file !== undefined && leavesFolder(config.script_file)) {
    refuse("script_file", "is below the team file's folder: a relative path without `..`");
  }
}

function leavesFolder(path: string): boolean {
  return /^(?:[/\\~]|[A-Za-z]:)/.test(path) || path.split(/[/\\]/).includes("..");
}

function isHttpAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) return false;
  return url.username === "" && url.password === "";
}

function looksLikeKey(text: string): boolean {
  if (/^(?:sk|pk|rk|xai|gsk|hf|ghp|glpat|nvapi|r8|pplx|key)[-_][A-Za-z0-9]/.test(text)) {
    return !/^[a-z]+(?:_[a-z]+)*$/.test(text);
  }
  if (/^(?:AIza|AKIA|eyJ)[A-Za-z0-9_-]{8,}/.test(text)) return true;
  return text
    .split(/[_\-.]/)
    .some((word) => word.length > LONGEST_WORD_CHARS && /\d/.test(word) && /[A-Za-z]/.test(word));
}
