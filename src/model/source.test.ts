import { expect, test } from "vitest";
import { addressNames, getBaseUrl, getSource } from "./source.ts";

const none = { models: {}, providers: {} };

test.each([
  ["anthropic/claude", { ANTHROPIC_BASE_URL: "http://127.0.0.1:9" }, "http://127.0.0.1:9/v1"],
  ["anthropic/claude", { ANTHROPIC_BASE_URL: "http://p.example/v1/" }, "http://p.example/v1"],
  ["anthropic/claude", { ANTHROPIC_BASE_URL: " " }, "https://api.anthropic.com/v1"],
  ["anthropic/claude", {}, "https://api.anthropic.com/v1"],
  ["openai/gpt", { OPENAI_BASE_URL: "http://p.example/openai" }, "http://p.example/openai"],
  ["openai/gpt", { ANTHROPIC_BASE_URL: "http://p.example" }, "https://api.openai.com/v1"],
  ["ollama/llama", { OPENAI_BASE_URL: "http://p.example" }, "http://127.0.0.1:11434/v1"],
])("%s with %j is at %s", (reference, variables, url) => {
  expect(getBaseUrl(getSource(none, reference), variables)).toBe(url);
});

test("an address of the file comes before the environment, which is not asked for one then", () => {
  const providers = { openai: { base_url: "http://file.example/v1" } };
  const files = { models: {}, providers };
  const source = getSource(files, "openai/gpt");
  expect(getBaseUrl(source, { OPENAI_BASE_URL: "http://p.example" })).toBe(
    "http://file.example/v1",
  );
  expect(addressNames(files, ["openai/gpt"])).toEqual([]);
  expect(addressNames(none, ["openai/gpt", "openai/mini", "nothing"])).toEqual(["OPENAI_BASE_URL"]);
});

test("an address that is none is refused by the name of its variable", () => {
  const source = getSource(none, "openai/gpt");
  expect(() => getBaseUrl(source, { OPENAI_BASE_URL: "proxy:8080/x y" })).toThrow(
    /^OPENAI_BASE_URL: "proxy:8080\/x y" is not an http or https URL/,
  );
});
