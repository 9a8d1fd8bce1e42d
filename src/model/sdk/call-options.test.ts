import { expect, test } from "vitest";
import type { ModelConfig } from "#model/config.ts";
import { ask, openDialectModel } from "#model/testing/ask.ts";
import { getDialect } from "#model/testing/dialects.ts";
import { openProviderServer } from "#model/testing/provider-server.ts";

async function bodyOf(name: string, config: Partial<ModelConfig>, max_output_tokens?: number) {
  const dialect = getDialect(name);
  await using server = await openProviderServer({ body: dialect.stream({ text: ["ok"] }) });
  const { error } = await ask(openDialectModel(dialect, server, { config }), {
    max_output_tokens,
    tools: [{ name: "t", description: "d", input_schema: { type: "object", properties: {} } }],
  });
  expect(error).toBeUndefined();
  return server.requests[0]?.body;
}

test("what a file says of a model is in the request", async () => {
  const config = {
    temperature: 0.5,
    top_p: 0.9,
    max_tokens: 500,
    frequency_penalty: 0.1,
    presence_penalty: 0.2,
    parallel_tool_calls: false,
    provider_opts: { top_k: 7 },
  };
  expect(await bodyOf("OpenAI-compatible", config)).toMatchObject({
    model: "some/model",
    temperature: 0.5,
    top_p: 0.9,
    max_tokens: 500,
    frequency_penalty: 0.1,
    presence_penalty: 0.2,
    parallel_tool_calls: false,
    top_k: 7,
    // Without it, such a server counts nothing.
    stream_options: { include_usage: true },
  });
});

test("the smaller of two limits holds", async () => {
  expect((await bodyOf("OpenAI-compatible", { max_tokens: 500 }, 90)).max_tokens).toBe(90);
  expect((await bodyOf("OpenAI-compatible", { max_tokens: 50 }, 90)).max_tokens).toBe(50);
  expect((await bodyOf("OpenAI-compatible", {}, 90)).max_tokens).toBe(90);
});

test("parallel calls are allowed or not in each provider's words", async () => {
  const config = { parallel_tool_calls: false };
  expect((await bodyOf("OpenAI responses", config)).parallel_tool_calls).toBe(false);
  expect((await bodyOf("OpenAI chat completions", config)).parallel_tool_calls).toBe(false);
  const { tool_choice } = await bodyOf("Anthropic messages", config);
  expect(tool_choice).toMatchObject({ disable_parallel_tool_use: true });
});

test.each([
  ["OpenAI responses", "low", { reasoning: { effort: "low" } }],
  ["OpenAI responses", 20_000, { reasoning: { effort: "high" } }],
  ["OpenAI responses", 4096, { reasoning: { effort: "low" } }],
  ["OpenAI-compatible", "medium", { reasoning_effort: "medium" }],
  ["OpenAI-compatible", 8000, { reasoning_effort: "medium" }],
  ["Anthropic messages", 2000, { thinking: { type: "enabled", budget_tokens: 2000 } }],
  ["Anthropic messages", 10, { thinking: { type: "enabled", budget_tokens: 1024 } }],
  ["Anthropic messages", "high", { thinking: { type: "enabled" } }],
  [
    "Google streamGenerateContent",
    2000,
    { generationConfig: { thinkingConfig: { thinkingBudget: 2000, includeThoughts: true } } },
  ],
  [
    "Google streamGenerateContent",
    "low",
    { generationConfig: { thinkingConfig: { includeThoughts: true } } },
  ],
  [
    "Google streamGenerateContent",
    "none",
    { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
  ],
  [
    "Google streamGenerateContent",
    0,
    { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
  ],
] as const)("%s is asked to think %s", async (name, thinking_budget, expected) => {
  expect(await bodyOf(name, { thinking_budget })).toMatchObject(expected);
});

test("a model that is not told how much to think decides for itself", async () => {
  expect(await bodyOf("Anthropic messages", {})).not.toHaveProperty("thinking");
  expect(await bodyOf("OpenAI responses", {})).not.toHaveProperty("reasoning");
  expect(await bodyOf("OpenAI-compatible", {})).not.toHaveProperty("reasoning_effort");
});

test("an option that the provider's package does not know how to read is a refusal", async () => {
  const dialect = getDialect("Anthropic messages");
  await using server = await openProviderServer({ body: dialect.stream({ text: ["ok"] }) });
  const config = { provider_opts: { thinking: "yes" } };
  const { error } = await ask(openDialectModel(dialect, server, { config }));
  expect(error).toMatchObject({ code: "model_failed", details: { cause: "refused" } });
  expect(server.requests).toEqual([]);
});
