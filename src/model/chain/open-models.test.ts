import { afterEach, describe, expect, test, vi } from "vitest";
import type { ModelConfig } from "#model/config.ts";
import { keyNames } from "#model/source.ts";
import { ask, openTestModels } from "#model/testing/ask.ts";
import { getDialect } from "#model/testing/dialects.ts";
import { openProviderServer } from "#model/testing/provider-server.ts";
import { waitFor } from "#test/harness/eventually.ts";

afterEach(() => void vi.unstubAllEnvs());

const chat = getDialect("OpenAI-compatible");
const hello = { body: chat.stream({ text: ["hello"] }) };
const scripted = (text: string): ModelConfig => ({
  provider: "scripted",
  script: [{ text, repeat: true }],
});

/** Where a request goes, and with what. */
async function requestOf(reference: string, deps: Parameters<typeof openTestModels>[0]) {
  let seen: { url: string; headers: Headers } | undefined;
  const models = openTestModels({
    ...deps,
    fetch: async (url, init) => {
      seen = { url: String(url), headers: new Headers(init?.headers) };
      return new Response("{}", { status: 400 });
    },
  });
  await ask(models.get(reference));
  return { url: seen?.url, headers: Object.fromEntries(seen?.headers ?? []) };
}

describe("a model", () => {
  test("is a name of the file, or provider/model", () => {
    const models = openTestModels({ models: { fast: scripted("hi") } });
    expect(models.get("fast").id).toBe("scripted/fast");
    expect(models.get("ollama/qwen3:8b").id).toBe("ollama/qwen3:8b");
    expect(models.get("ollama/library/qwen3").id).toBe("ollama/library/qwen3");
    expect(models.get("scripted/echo").id).toBe("scripted/echo");
  });

  test("is the same one each time", () => {
    const models = openTestModels();
    expect(models.get("scripted/echo")).toBe(models.get("scripted/echo"));
  });

  test.each([
    [
      "quick",
      "there is no model \"quick\": give a name of the file's models or provider/model; the file's models are fast",
    ],
    ["/x", "there is no model"],
    ["openai/", "there is no model"],
    [
      "acme/x",
      'there is no provider "acme"; known are openai, anthropic, google, ollama, scripted',
    ],
    ["constructor/x", "there is no provider"],
    ["toString", "there is no model"],
    ["scripted/other", "there is no model scripted/other"],
  ])("that leads nowhere is a fault: %s", (reference, message) => {
    const models = openTestModels({ models: { fast: scripted("hi") } });
    expect(() => models.get(reference)).toThrow(
      expect.objectContaining({
        code: "invalid_request",
        message: expect.stringContaining(message),
      }),
    );
  });

  test("knows its context and whether it sees images", () => {
    const models = openTestModels({
      models: {
        small: { provider: "anthropic", model: "claude-haiku-4-5-20251001", context_limit: 1000 },
        seeing: { provider: "ollama", model: "llava", images: true },
      },
      keys: { ANTHROPIC_API_KEY: "x" },
    });
    expect(models.get("small")).toMatchObject({ context_limit: 1000, supports_images: true });
    expect(models.get("anthropic/claude-haiku-4-5-20251001").context_limit).toBe(200_000);
    expect(models.get("ollama/llama3")).toMatchObject({
      context_limit: null,
      supports_images: false,
    });
    expect(models.get("seeing").supports_images).toBe(true);
  });
});

describe("a built-in provider", () => {
  test.each([
    [
      "openai/gpt-5",
      "OPENAI_API_KEY",
      "https://api.openai.com/v1/responses",
      { authorization: "Bearer k-123456" },
    ],
    [
      "anthropic/claude-opus-4-5",
      "ANTHROPIC_API_KEY",
      "https://api.anthropic.com/v1/messages",
      { "x-api-key": "k-123456" },
    ],
    [
      "google/gemini-2.5-pro",
      "GEMINI_API_KEY",
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
      { "x-goog-api-key": "k-123456" },
    ],
    [
      "google/gemini-2.5-pro",
      "GOOGLE_GENERATIVE_AI_API_KEY",
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
      { "x-goog-api-key": "k-123456" },
    ],
  ])(
    "%s is reached with %s, whatever the environment says",
    async (reference, name, ...[url, headers]) => {
      for (const each of ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_BASE_URL"]) {
        vi.stubEnv(each, "http://127.0.0.1:9/evil");
      }
      vi.stubEnv(name, "from-the-environment");
      const request = await requestOf(reference, { keys: { [name]: "k-123456" } });
      expect(request).toMatchObject({ url, headers });
      expect(JSON.stringify(request)).not.toContain("from-the-environment");
    },
  );

  test("ollama is at home and needs no key", async () => {
    vi.stubEnv("OPENAI_API_KEY", "from-the-environment");
    const { url, headers } = await requestOf("ollama/llama3", {});
    expect(url).toBe("http://127.0.0.1:11434/v1/chat/completions");
    expect(headers).not.toHaveProperty("authorization");
  });

  test("without its key is a fault that names the variable", () => {
    vi.stubEnv("OPENAI_API_KEY", "from-the-environment");
    for (const keys of [{}, { OPENAI_API_KEY: "" }]) {
      expect(() => openTestModels({ keys }).get("openai/gpt-5")).toThrow(
        expect.objectContaining({
          code: "model_failed",
          message: expect.stringContaining("set OPENAI_API_KEY"),
          details: { cause: "auth", model: "openai/gpt-5" },
        }),
      );
    }
  });

  test("may be moved by the file", async () => {
    const deps = {
      providers: {
        openai: {
          base_url: "http://proxy.example/v1",
          token_key: "PROXY_KEY",
          headers: { "x-team": "blue" },
        },
      },
      keys: { PROXY_KEY: "p-123456", OPENAI_API_KEY: "o-123456" },
    };
    expect(await requestOf("openai/gpt-5", deps)).toMatchObject({
      url: "http://proxy.example/v1/responses",
      headers: { authorization: "Bearer p-123456", "x-team": "blue" },
    });
  });
});

describe("a provider of the file", () => {
  test.each([
    ["openai_chatcompletions", "http://h/v1/chat/completions"],
    ["openai_responses", "http://h/v1/responses"],
    ["anthropic", "http://h/v1/messages"],
    ["google", "http://h/v1/models/m:streamGenerateContent?alt=sse"],
  ] as const)("speaks %s", async (api_type, url) => {
    vi.stubEnv("OPENAI_API_KEY", "from-the-environment");
    vi.stubEnv("ANTHROPIC_API_KEY", "from-the-environment");
    vi.stubEnv("GOOGLE_GENERATIVE_AI_API_KEY", "from-the-environment");
    const request = await requestOf("mine/m", {
      providers: { mine: { api_type, base_url: "http://h/v1" } },
    });
    expect(request.url).toBe(url);
    expect(JSON.stringify(request)).not.toContain("from-the-environment");
  });

  test("without an address is a fault", () => {
    const models = openTestModels({ providers: { mine: { token_key: "K" } } });
    expect(() => models.get("mine/m")).toThrow("the provider mine has no base_url");
  });
});

test("the keys that models need are known by name", () => {
  const models = {
    fast: { provider: "openai", model: "gpt-5-mini" },
    own: { provider: "openai", model: "gpt-5", token_key: "OTHER_KEY" },
    talk: scripted("hi"),
  };
  const providers = {
    mine: { base_url: "http://h", token_key: "MY_KEY" },
    open: { base_url: "http://h" },
  };
  const references = [
    "fast",
    "own",
    "talk",
    "mine/x",
    "open/x",
    "google/g",
    "ollama/o",
    "openai/gpt-5",
    "no such",
    "scripted/echo",
  ];
  expect(keyNames(models, providers, references)).toEqual([
    "OPENAI_API_KEY",
    "OTHER_KEY",
    "MY_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "GEMINI_API_KEY",
  ]);
});

describe("a script file", () => {
  const talk: ModelConfig = { provider: "scripted", script_file: "scripts/talk.yaml" };

  test("is read from the file's folder", async () => {
    const read: string[] = [];
    const models = openTestModels({
      models: { talk },
      base_dir: "/teams/a",
      scripts: (path) => {
        read.push(path);
        return "- text: from a file";
      },
    });
    expect((await ask(models.get("talk"))).text).toBe("from a file");
    expect(read).toEqual(["/teams/a/scripts/talk.yaml"]);
  });

  test("that is none is a fault with its place", () => {
    const models = openTestModels({ models: { talk }, scripts: () => "- txt: x" });
    expect(() => models.get("talk")).toThrow("scripts/talk.yaml:1: step 1");
  });
});

describe("a chain", () => {
  test("falls back from one provider to another", async () => {
    await using broken = await openProviderServer({ status: 404, body: ["{}"] });
    await using server = await openProviderServer(hello);
    const models = openTestModels({
      providers: { a: { base_url: broken.url }, b: { base_url: server.url } },
    });
    const choice = { model: "a/x", fallbacks: ["b/y"] };
    expect(await ask(models.chain(choice))).toMatchObject({
      text: "hello",
      finish: { model: "b/y" },
    });
    // It remembers, also for who asks for it anew.
    expect(await ask(models.chain({ ...choice }))).toMatchObject({ text: "hello" });
    expect(broken.requests).toHaveLength(1);
  });

  test("gets over a server error", async () => {
    await using server = await openProviderServer({ status: 500, body: ["oops"] }, hello);
    const models = openTestModels({ providers: { a: { base_url: server.url } } });
    const asked = await ask(models.chain({ model: "a/x", fallbacks: [] }));
    expect(asked.text).toBe("hello");
    expect(server.requests).toHaveLength(2);
  });

  test("gets over a stream that broke off, with nothing said twice", async () => {
    const body = chat.stream({ text: ["hel"] }).slice(0, 2);
    await using server = await openProviderServer({ body, after: "cut" }, hello);
    const models = openTestModels({ providers: { a: { base_url: server.url } } });
    const asked = await ask(models.chain({ model: "a/x", fallbacks: [] }));
    expect(asked.text).toBe("hello");
    expect(asked.chunks[0]).toMatchObject({ type: "retry", failed_model: "a/x", model: "a/x" });
  });

  test("goes past a model without its key, and says so", async () => {
    const models = openTestModels();
    const asked = await ask(models.chain({ model: "openai/gpt-5", fallbacks: ["scripted/echo"] }));
    expect(asked.chunks[0]).toMatchObject({
      type: "retry",
      reason: expect.stringContaining("OPENAI_API_KEY"),
      failed_model: "openai/gpt-5",
      model: "scripted/echo",
    });
    expect(asked.text).toBe("hello");
  });

  test("asks a model whose key has come meanwhile", async () => {
    await using server = await openProviderServer(hello);
    const keys: Record<string, string> = {};
    const providers = { a: { base_url: server.url, token_key: "LATE_KEY" } };
    const models = openTestModels({ keys, providers });
    const choice = { model: "a/x", fallbacks: ["scripted/echo"], cooldown_ms: 0 };
    expect((await ask(models.chain(choice))).finish?.model).toBe("scripted/echo");
    keys.LATE_KEY = "k-123456";
    expect((await ask(models.chain(choice))).finish?.model).toBe("a/x");
  });

  test("of one model without its key is a fault at once", () => {
    const choice = { model: "openai/gpt-5", fallbacks: [] };
    expect(() => openTestModels().chain(choice)).toThrow("set OPENAI_API_KEY");
  });

  test("with a model that leads nowhere is a fault at once", () => {
    const choice = { model: "scripted/echo", fallbacks: ["acme/x"] };
    expect(() => openTestModels().chain(choice)).toThrow("there is no provider");
  });
});

test("disposing ends what is under way", async () => {
  await using server = await openProviderServer({ after: "hang" });
  const models = openTestModels({ providers: { a: { base_url: server.url } } });
  const asking = ask(models.chain({ model: "a/x", fallbacks: ["scripted/echo"] }));
  await waitFor("the request", () => server.requests.length === 1);
  models[Symbol.dispose]();
  expect((await asking).error).toMatchObject({ code: "shutting_down" });
  await waitFor("the server sees the end", () => server.requests[0]?.isAborted);
});
