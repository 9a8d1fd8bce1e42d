import { describe, expect, test } from "vitest";
import { ask, openDialectModel } from "#model/testing/ask.ts";
import { getDialect } from "#model/testing/dialects.ts";
import { openProviderServer } from "#model/testing/provider-server.ts";
import { ChunkReader } from "./chunks.ts";

describe.each(["OpenAI responses", "OpenAI chat completions", "OpenAI-compatible"])(
  "%s",
  (name) => {
    test.each(["{oops", "[1]", "7", "null", '"text"'])(
      "what is no JSON object has no input, but what the model wrote: %s",
      async (raw) => {
        const dialect = getDialect(name);
        const calls = [{ id: "call_a", tool: "read", raw: [raw] }];
        await using server = await openProviderServer({ body: dialect.stream({ calls }) });
        const asked = await ask(openDialectModel(dialect, server));
        expect(asked.error).toBeUndefined();
        expect(asked.calls).toMatchObject([{ tool: "read", raw }]);
        expect(asked.calls[0]?.input).toBeUndefined();
      },
    );

    test("nothing at all is a call without arguments", async () => {
      const dialect = getDialect(name);
      const calls = [{ id: "call_a", tool: "list", raw: [] }];
      await using server = await openProviderServer({ body: dialect.stream({ calls }) });
      const asked = await ask(openDialectModel(dialect, server));
      expect(asked.calls.map((call) => call.input)).toEqual([{}]);
    });
  },
);

test("an empty input is read as no arguments, whatever the package makes of it", () => {
  const reader = new ChunkReader({ model: "p/m", price: undefined });
  const part = { type: "tool-call", toolCallId: "a", toolName: "list", input: " " } as const;
  const [start, end] = reader.read(part);
  expect(start).toEqual({ type: "call_start", key: "a", tool: "list" });
  expect(end).toEqual({ type: "call_end", key: "a", tool: "list", input: {}, raw: " " });
});

test("what the provider itself has called is not ours to call", () => {
  const reader = new ChunkReader({ model: "p/m", price: undefined });
  const call = { toolName: "web_search", providerExecuted: true } as const;
  expect(reader.read({ type: "tool-input-start", id: "a", ...call })).toEqual([]);
  expect(reader.read({ type: "tool-input-delta", id: "a", delta: "{}" })).toEqual([]);
  expect(reader.read({ type: "tool-call", toolCallId: "a", input: "{}", ...call })).toEqual([]);
});
