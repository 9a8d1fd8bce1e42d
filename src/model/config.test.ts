import { describe, expect, test } from "vitest";
import * as z from "zod";
import { ModelConfig, ProviderConfig } from "./config.ts";

const model = { provider: "openai", model: "gpt-5" };
const issuesOf = (parsed: z.ZodSafeParseResult<unknown>) =>
  (parsed.error?.issues ?? [])
    .map((issue) => `${issue.path.join(".")}: ${issue.message}`)
    .join("\n");

test("a model may say all there is to say", () => {
  const full = {
    ...model,
    temperature: 0.2,
    max_tokens: 1000,
    top_p: 0.9,
    frequency_penalty: 0,
    presence_penalty: -1,
    base_url: "http://127.0.0.1:8080/v1",
    token_key: "MY_KEY",
    parallel_tool_calls: true,
    thinking_budget: "high",
    context_limit: 32_000,
    images: true,
    cost: { input: 1, output: 2, cached_input: 0.1 },
    provider_opts: { nested: { a: [1] } },
  };
  expect(ModelConfig.parse(full)).toEqual(full);
});

test.each([0, 2048, "none", "low", "medium", "high"])(
  "a thinking budget is %s",
  (thinking_budget) => {
    expect(ModelConfig.parse({ ...model, thinking_budget })).toMatchObject({ thinking_budget });
  },
);

test.each([
  [{ ...model, tempreature: 1 }, "tempreature"],
  [{ ...model, temperature: 3 }, "temperature"],
  [{ ...model, thinking_budget: "extreme" }, "thinking_budget"],
  [{ ...model, max_tokens: 0 }, "max_tokens"],
  [{ ...model, cost: { input: 1 } }, "cost.output"],
  [{ ...model, cost: { input: 1, output: 1, cached: 1 } }, "cached"],
  [{ provider: "openai" }, "model: says which model"],
  [{ ...model, provider: "open/ai" }, "provider"],
  [{ ...model, base_url: "ftp://x" }, "base_url: is an http or https address"],
  [
    { ...model, base_url: "http://me:secret@x/v1" },
    "base_url: is an http or https address without a user",
  ],
  [{ ...model, base_url: "localhost" }, "base_url"],
  [{ ...model, script: [{ text: "a" }] }, "script: is for the provider scripted alone"],
  [{ ...model, script_file: "a.yaml" }, "script_file: is for the provider scripted alone"],
  [{ provider: "scripted" }, "script: a scripted model has a script or a script_file"],
  [{ provider: "scripted", script: [{ text: "a" }], script_file: "a.yaml" }, "give one of the two"],
  [
    { provider: "scripted", script_file: "../a.yaml" },
    "script_file: is below the team file's folder",
  ],
  [{ provider: "scripted", script_file: "a/../../b.yaml" }, "script_file: is below"],
  [{ provider: "scripted", script_file: "/etc/passwd" }, "script_file: is below"],
  [{ provider: "scripted", script_file: "C:\\a.yaml" }, "script_file: is below"],
  [{ provider: "scripted", script: [] }, "script"],
  [{ provider: "scripted", script: [{ txt: "a" }] }, "script.0"],
])("%j is refused", (config, message) => {
  expect(issuesOf(ModelConfig.safeParse(config))).toContain(message);
});

test.each([
  { provider: "scripted", script: [{ text: "a" }] },
  { provider: "scripted", model: "talk", script_file: "scripts/talk.yaml" },
  { provider: "scripted", model: "echo" },
])("%j is a scripted model", (config) => {
  expect(ModelConfig.safeParse(config).success).toBe(true);
});

describe("the name of a key", () => {
  test.each([
    "OPENAI_API_KEY",
    "my_key",
    "KEY2",
    "hf_token",
    "_X",
    "AZURE_OPENAI_EASTUS2_PRODUCTION_API_KEY",
  ])("is %s", (token_key) => {
    expect(ProviderConfig.safeParse({ token_key }).success).toBe(true);
    expect(ModelConfig.safeParse({ ...model, token_key }).success).toBe(true);
  });

  test.each([
    "sk-proj-abcDEF123456",
    "sk-ant-api03-abc_DEF",
    "AIzaSyA1234567890abcdefghijklmnop",
    "gsk_AbCdEf0123456789",
    "hf_AbCdEf0123456789",
    "xai-0123456789abcdef",
    "AKIAIOSFODNN7EXAMPLE",
    "0123456789abcdef0123456789abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0",
    "x".repeat(101),
  ])("is not the key itself, which is not repeated: %s", (token_key) => {
    const told = issuesOf(ProviderConfig.safeParse({ token_key }));
    expect(told).toContain("looks like a key");
    expect(told).not.toContain(token_key);
  });

  test.each(["MY-KEY", "$MY_KEY", "1KEY", ""])("is a name: %j is none", (token_key) => {
    expect(issuesOf(ProviderConfig.safeParse({ token_key }))).toContain("environment variable");
  });
});

test("a provider says how and where it is spoken to", () => {
  const full = {
    api_type: "openai_responses",
    base_url: "https://models.example/v1",
    token_key: "EXAMPLE_KEY",
    headers: { "x-team": "blue", "HTTP-Referer": "https://example.org" },
  };
  expect(ProviderConfig.parse(full)).toEqual(full);
});

test.each([
  [{ api_type: "smoke" }, "api_type"],
  [{ url: "http://x" }, "url"],
  [{ headers: { Authorization: "Bearer x" } }, "keys are not given in headers"],
  [{ headers: { "X-Api-Key": "x" } }, "keys are not given in headers"],
  [{ headers: { "x-other": "token=sk-proj-abcDEF123456" } }, "looks like a key"],
  [{ headers: { "x-other": "a\r\nb: c" } }, "is one line"],
  [{ headers: { "x other": "a" } }, "headers"],
])("the provider %j is refused", (config, message) => {
  expect(issuesOf(ProviderConfig.safeParse(config))).toContain(message);
});

test("editors can be told what a model is", () => {
  expect(z.toJSONSchema(ModelConfig)).toMatchObject({ additionalProperties: false });
  expect(z.toJSONSchema(ProviderConfig)).toMatchObject({ additionalProperties: false });
});
