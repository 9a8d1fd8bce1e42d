import { expect, test } from "vitest";
import { costOf, findInCatalog } from "./catalog.ts";

const none = { input: 0, cached: 0, written: 0, output: 0 };

test.each([
  ["openai", "gpt-5", 400_000],
  ["openai", "gpt-5-2025-08-07", 400_000],
  ["anthropic", "claude-haiku-4-5-20251001", 200_000],
  ["anthropic", "claude-opus-4-5", 200_000],
  ["google", "gemini-3-pro-preview", 1_048_576],
])("%s/%s has a context of %d tokens", (provider, model, context_limit) => {
  expect(findInCatalog(provider, model)).toMatchObject({ context_limit });
});

test.each([
  ["openai", "gpt-5-turbo-max"],
  ["ollama", "gpt-5"],
  ["openai", "constructor"],
  ["constructor", "name"],
])("nothing is known of %s/%s", (provider, model) => {
  expect(findInCatalog(provider, model)).toBeUndefined();
});

test("input, cached input, cache writes and output have prices of their own", () => {
  const price = { input: 10, output: 100, cached_input: 1, cache_write: 12.5 };
  expect(costOf(price, { ...none, input: 1000 })).toBeCloseTo(0.01, 12);
  expect(costOf(price, { ...none, input: 1000, cached: 1000 })).toBeCloseTo(0.001, 12);
  expect(costOf(price, { ...none, input: 1000, written: 1000 })).toBeCloseTo(0.0125, 12);
  expect(costOf(price, { ...none, output: 1000 })).toBeCloseTo(0.1, 12);
  expect(costOf({ input: 10, output: 0 }, { ...none, input: 1000, cached: 500 })).toBeCloseTo(
    0.01,
    12,
  );
});

test("a long prompt is dearer as a whole", () => {
  const price = findInCatalog("google", "gemini-2.5-pro")?.price;
  if (price === undefined) throw new Error("not in the catalog");
  expect(costOf(price, { ...none, input: 200_000, output: 1000 })).toBeCloseTo(0.26, 10);
  expect(costOf(price, { ...none, input: 200_001, output: 1000 })).toBeCloseTo(0.5150025, 10);
});

test("Anthropic asks more for what it caches", () => {
  expect(findInCatalog("anthropic", "claude-sonnet-4-5")?.price).toMatchObject({
    input: 3,
    output: 15,
    cached_input: 0.3,
    cache_write: 3.75,
  });
});
