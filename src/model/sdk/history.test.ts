import { expect, test } from "vitest";
import type { AssistantPart, ModelMessage } from "#model/model.ts";
import { type Asked, ask, openDialectModel, user } from "#model/testing/ask.ts";
import { getDialect } from "#model/testing/dialects.ts";
import { openProviderServer } from "#model/testing/provider-server.ts";

const answer = {
  reasoning: ["because"],
  text: ["so"],
  calls: [{ id: "call_a", tool: "read", raw: ['{"path":"a"}'] }],
  stop: "tool_calls",
} as const;

/** What a turn loop keeps of an answer. */
function toHistory(asked: Asked): ModelMessage[] {
  const parts = asked.chunks.flatMap((chunk): AssistantPart[] => {
    if (chunk.type === "reasoning_end") {
      return [
        { type: "reasoning", text: asked.reasoning, provider_metadata: chunk.provider_metadata },
      ];
    }
    if (chunk.type !== "call_end") return [];
    const { key: call_id, tool, input, provider_metadata } = chunk;
    return [{ type: "tool_call", call_id, tool, input, provider_metadata }];
  });
  const [call] = asked.calls;
  const result = { call_id: call?.key ?? "", tool: "read", output: "text", is_error: false };
  return [
    { role: "assistant", model: asked.finish?.model ?? "", parts },
    { role: "tool", results: [result] },
  ];
}

async function answerTwice(from: string, to: string) {
  const [made, read] = [getDialect(from), getDialect(to)];
  await using first = await openProviderServer({ body: made.stream(answer) });
  await using second = await openProviderServer({ body: read.stream({ text: ["ok"] }) });
  const asked = await ask(openDialectModel(made, first));
  const again = await ask(openDialectModel(read, second), {
    messages: [user("hello"), ...toHistory(asked)],
  });
  expect(again.error).toBeUndefined();
  return second.requests[0]?.body;
}

test("Anthropic gets its signature back", async () => {
  const body = await answerTwice("Anthropic messages", "Anthropic messages");
  expect(body.messages[1].content).toEqual([
    { type: "thinking", thinking: "because", signature: "signed" },
    { type: "tool_use", id: "call_a", name: "read", input: { path: "a" } },
  ]);
});

test("OpenAI gets its sealed reasoning back, and keeps nothing", async () => {
  const body = await answerTwice("OpenAI responses", "OpenAI responses");
  expect(body.store).toBe(false);
  expect(body.include).toContain("reasoning.encrypted_content");
  expect(body.input).toMatchObject([
    { role: "user" },
    { type: "reasoning", encrypted_content: "sealed" },
    { type: "function_call", call_id: "call_a", name: "read", arguments: '{"path":"a"}' },
    { type: "function_call_output", call_id: "call_a", output: "text" },
  ]);
});

test("Google gets the signature of a call back", async () => {
  const body = await answerTwice("Google streamGenerateContent", "Google streamGenerateContent");
  expect(JSON.stringify(body.contents[1])).toContain('"thoughtSignature":"signed"');
});

test("an OpenAI-compatible server gets the reasoning as it was", async () => {
  const body = await answerTwice("OpenAI-compatible", "OpenAI-compatible");
  expect(body.messages[1]).toMatchObject({ role: "assistant", reasoning_content: "because" });
});

test.each([
  ["Anthropic messages", "OpenAI responses"],
  ["Anthropic messages", "Google streamGenerateContent"],
  ["Anthropic messages", "OpenAI-compatible"],
  ["OpenAI responses", "Anthropic messages"],
  ["OpenAI responses", "OpenAI-compatible"],
  ["Google streamGenerateContent", "Anthropic messages"],
  ["Google streamGenerateContent", "OpenAI responses"],
])("neither the reasoning nor the metadata of %s goes to %s", async (from, to) => {
  const sent = JSON.stringify(await answerTwice(from, to));
  expect(sent).not.toMatch(/signed|sealed|rs_1|fc_call|because/);
  expect(sent).toContain("path");
});

test("a call whose id a provider would refuse keeps its result", async () => {
  const dialect = getDialect("Anthropic messages");
  await using server = await openProviderServer({ body: dialect.stream({ text: ["ok"] }) });
  const call = { call_id: "a:1.x|y", tool: "read" };
  await ask(openDialectModel(dialect, server), {
    messages: [
      user("go"),
      { role: "assistant", model: "openai/x", parts: [{ type: "tool_call", ...call, input: 7 }] },
      { role: "tool", results: [{ ...call, output: "", is_error: false }] },
    ],
  });
  const [, assistant, result] = server.requests[0]?.body.messages ?? [];
  expect(assistant.content).toEqual([{ type: "tool_use", id: "a_1_x_y", name: "read", input: {} }]);
  expect(result.content[0]).toMatchObject({ tool_use_id: "a_1_x_y", content: "(no output)" });
});

test("a failed result is marked where the provider has a mark, its images follow it", async () => {
  const dialect = getDialect("Anthropic messages");
  await using server = await openProviderServer({ body: dialect.stream({ text: ["ok"] }) });
  const call = { call_id: "a", tool: "shot" };
  const images = [{ type: "image", media_type: "image/png", data_b64: "AAAA" }] as const;
  await ask(openDialectModel(dialect, server), {
    messages: [
      user("go"),
      {
        role: "assistant",
        model: "anthropic/x",
        parts: [{ type: "tool_call", ...call, input: {} }],
      },
      { role: "tool", results: [{ ...call, output: "half", is_error: true, images }] },
    ],
  });
  const content = server.requests[0]?.body.messages[2].content;
  expect(content[0]).toMatchObject({ type: "tool_result", is_error: true, content: "half" });
  expect(content.at(-1)).toMatchObject({ type: "image", source: { data: "AAAA" } });
});

test("messages that have nothing in them are left out", async () => {
  const dialect = getDialect("OpenAI-compatible");
  await using server = await openProviderServer({ body: dialect.stream({ text: ["ok"] }) });
  await ask(openDialectModel(dialect, server), {
    messages: [
      { role: "system", text: "one" },
      { role: "system", text: "two" },
      user(""),
      { role: "assistant", model: "other/x", parts: [{ type: "reasoning", text: "hm" }] },
      { role: "tool", results: [] },
      user("hello"),
    ],
  });
  expect(server.requests[0]?.body.messages).toEqual([
    { role: "system", content: "one\n\ntwo" },
    { role: "user", content: "hello" },
  ]);
});
