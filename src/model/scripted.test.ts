import { describe, expect, test } from "vitest";
import { systemClock } from "#base/clock.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { ModelChain } from "#model/chain/chain.ts";
import { waitFor } from "#test/harness/eventually.ts";
import type { ModelMessage } from "./model.ts";
import { parseScript } from "./script.ts";
import { createEchoModel, createScriptedModel } from "./scripted.ts";
import { ask, toRequest, user } from "./testing/ask.ts";

const ID = "scripted/talk";
const open = (yaml: string, deps = {}) =>
  createScriptedModel(parseScript(yaml, "talk.yaml"), { id: ID, clock: systemClock, ...deps });

const said = (text: string, model = ID): ModelMessage => ({
  role: "assistant",
  model,
  parts: [{ type: "text", text }],
});
const result = (output: string, is_error = false): ModelMessage => ({
  role: "tool",
  results: [{ call_id: "c", tool: "t", output, is_error }],
});
const tool = { name: "read_file", description: "", input_schema: {} };

test("says reasoning, text and calls, with the usage that the script gives", async () => {
  const model = open(`
- reasoning: [h, m]
  deltas: [Hel, lo]
  tool_calls: [{ tool: a, input: { x: 1 } }, { tool: b, raw: "{oops" }]
  usage: { input_tokens: 7, output_tokens: 8 }
`);
  const { chunks, finish } = await ask(model);
  expect(chunks).toEqual([
    { type: "reasoning_delta", key: "reasoning", text: "h" },
    { type: "reasoning_delta", key: "reasoning", text: "m" },
    { type: "reasoning_end", key: "reasoning" },
    { type: "text_delta", text: "Hel" },
    { type: "text_delta", text: "lo" },
    { type: "call_start", key: "call_1_0", tool: "a" },
    { type: "call_delta", key: "call_1_0", text: '{"x":1}' },
    { type: "call_end", key: "call_1_0", tool: "a", input: { x: 1 }, raw: '{"x":1}' },
    { type: "call_start", key: "call_1_1", tool: "b" },
    { type: "call_delta", key: "call_1_1", text: "{oops" },
    { type: "call_end", key: "call_1_1", tool: "b", input: undefined, raw: "{oops" },
    finish,
  ]);
  expect(finish).toEqual({
    type: "finish",
    model: ID,
    stop_reason: "tool_calls",
    usage: { input_tokens: 7, output_tokens: 8, cost: 0 },
  });
});

test("counts a token for every four characters, and asks the price of the file", async () => {
  const price = { input: 1_000_000, output: 2_000_000 };
  const { finish } = await ask(open("- text: eight ch", { price }));
  expect(finish?.usage.output_tokens).toBe(2);
  expect(finish?.usage.input_tokens).toBeGreaterThan(0);
  const { input_tokens = 0, output_tokens = 0, cost } = finish?.usage ?? {};
  expect(cost).toBe(input_tokens + 2 * output_tokens);
});

describe("the position in a script", () => {
  const script = "[{ text: one }, { text: two }, { text: three }]";

  test("follows from the history alone, so that a new life goes on", async () => {
    const history = [user("a"), said("one"), user("b")];
    expect((await ask(open(script), { messages: history })).text).toBe("two");
    const more = [...history, said("two"), result("x")];
    expect((await ask(open(script), { messages: more })).text).toBe("three");
  });

  test("does not move when the same is asked twice", async () => {
    const model = open(script);
    expect((await ask(model)).text).toBe("one");
    expect((await ask(model)).text).toBe("one");
  });

  test("does not count what other models said", async () => {
    const messages = [user("a"), said("x", "scripted/other"), said("y", "openai/gpt-5"), user("b")];
    expect((await ask(open(script), { messages })).text).toBe("one");
  });

  test("has an end", async () => {
    const messages = [user("a"), said("one"), said("two"), said("three"), user("b")];
    expect((await ask(open(script), { messages })).error).toMatchObject({
      code: "model_failed",
      message: expect.stringContaining("the script has ended"),
      details: { cause: "script", model: ID },
    });
  });

  test("stays at a step that repeats", async () => {
    const model = open("[{ text: one }, { text: again, repeat: true }, { text: never }]");
    const messages = [user("a"), said("one"), said("again"), said("again"), user("b")];
    expect((await ask(model, { messages })).text).toBe("again");
  });

  test("is not moved by steps that are played when they match", async () => {
    const yaml = `
- { when: { last_user_contains: help }, text: helped }
- text: one
- text: two
`;
    const messages = [user("a"), said("one"), user("help!"), said("helped"), user("b")];
    expect((await ask(open(yaml), { messages: messages.slice(0, 3) })).text).toBe("helped");
    expect((await ask(open(yaml), { messages })).text).toBe("two");
  });

  test("passes a failing step once in a life", async () => {
    const yaml = `
- text: one
- error: { cause: unavailable }
- error: { cause: timeout }
- text: two
`;
    const messages = [user("a"), said("one"), user("b")];
    const model = open(yaml);
    expect((await ask(model, { messages })).error).toMatchObject({
      details: { cause: "unavailable" },
    });
    expect((await ask(model, { messages })).error).toMatchObject({ details: { cause: "timeout" } });
    expect((await ask(model, { messages })).text).toBe("two");
    expect((await ask(open(yaml), { messages })).error).toBeDefined();
    // It stands before the answer that follows it, and nowhere else.
    const later = [...messages, said("two"), user("c")];
    expect((await ask(open(yaml), { messages: later })).error).toMatchObject({
      details: { cause: "script" },
    });
  });

  test("never passes a failing step that repeats", async () => {
    const model = open("[{ error: { cause: auth }, repeat: true }, { text: never }]");
    for (let asked = 0; asked < 3; asked += 1) {
      expect((await ask(model)).error).toMatchObject({ details: { cause: "auth" } });
    }
  });

  test("passes a failing step that matches once, too", async () => {
    const model = open(
      "[{ when: { last_user_contains: hel }, error: { cause: context_overflow } }, { text: ok }]",
    );
    expect((await ask(model)).error).toMatchObject({ details: { cause: "context_overflow" } });
    expect((await ask(model)).text).toBe("ok");
  });
});

describe("what a script expects", () => {
  const request = {
    messages: [
      { role: "system", text: "Be brief." },
      user("first"),
      said("x", "other/m"),
      result("exit 1", true),
      user("second"),
    ] satisfies ModelMessage[],
    tools: [tool],
  };

  test.each([
    "last_user_contains: sec",
    "last_user_contains: [sec, ond]",
    "last_tool_result_contains: exit",
    "system_contains: brief",
    "tools_include: read_file",
    "tools_exclude: write_file",
    "tool_error: true",
    "last_role: user",
    "has_images: false",
    "structured_output: false",
    "messages_count: 4",
    "messages_at_least: 4",
    "messages_at_most: 4",
  ])("holds: %s", async (matcher) => {
    const { error, text } = await ask(open(`- { expect: { ${matcher} }, text: ok }`), request);
    expect(error).toBeUndefined();
    expect(text).toBe("ok");
    expect((await ask(open(`- { when: { ${matcher} }, text: ok }`), request)).text).toBe("ok");
  });

  test.each([
    [
      "last_user_contains: first",
      'the user\'s last message does not contain "first"; it is "second"',
    ],
    ["last_user_contains: [sec, third]", '"third"'],
    ["last_tool_result_contains: exit 0", "the tools' last results"],
    ["system_contains: long", "the system message"],
    ["tools_include: [read_file, write_file]", "there is no tool write_file"],
    ["tools_exclude: read_file", "there is a tool read_file"],
    ["tool_error: false", "a tool has failed: expected false, got true"],
    ["last_role: tool", "expected tool, got user"],
    ["has_images: true", "there are images: expected true"],
    ["structured_output: true", "JSON is asked for: expected true"],
    ["messages_count: 5", "expected 5, got 4"],
    ["messages_at_least: 5", "there are 4 messages, not at least 5"],
    ["messages_at_most: 3", "there are 4 messages, not at most 3"],
  ])("does not hold: %s", async (matcher, message) => {
    const { error } = await ask(open(`- { expect: { ${matcher} }, text: ok }`), request);
    expect(error).toMatchObject({
      message: expect.stringContaining(message),
      details: { cause: "script" },
    });
    const other = await ask(open(`- { when: { ${matcher} }, text: ok }`), request);
    expect(other.error).toMatchObject({ details: { cause: "script" } });
  });

  test("results are those since the model last spoke", async () => {
    const messages = [user("a"), said("x"), result("old", true), said("y"), result("new")];
    const yaml =
      "- { when: { last_tool_result_contains: old }, text: no }\n- { when: { tool_error: true }, text: no }\n- { when: { last_tool_result_contains: new }, text: ok }";
    expect((await ask(open(yaml), { messages })).text).toBe("ok");
  });
});

test("fails as the script says", async () => {
  const yaml =
    "- { text: Hel, error: { cause: rate_limited, status: 429, retry_after_ms: 70, message: Slow down } }";
  const { error, text } = await ask(open(yaml));
  expect(text).toBe("Hel");
  expect(error).toMatchObject({
    message: `${ID}: Slow down`,
    details: { cause: "rate_limited", status: 429, retry_after_ms: 70, model: ID },
  });
});

test("breaks off in the middle, without the end of a call", async () => {
  const { error, chunks } = await ask(
    open("- { text: Hel, tool_calls: [{ tool: a }], cut: true }"),
  );
  expect(error).toMatchObject({ details: { cause: "unavailable" } });
  expect(chunks.map((chunk) => chunk.type)).toEqual(["text_delta", "call_start", "call_delta"]);
});

test("is retried by a chain as a provider's model is", async () => {
  const model = open("- { cut: true, text: Hel }\n- { text: Hello }");
  const chain = new ModelChain({ models: [model], clock: systemClock, random: () => 0.5 });
  const { text, chunks } = await ask(chain);
  expect(text).toBe("Hello");
  expect(chunks[0]).toMatchObject({ type: "retry", failed_model: ID });
});

test("takes the time that the script says, a word at a time", async () => {
  const clock = new ManualClock();
  const model = open("- { text: one two three, delay_ms: 100, every_ms: 10 }", { clock });
  const { signal } = new AbortController();
  const reader = model.stream(toRequest(), { signal })[Symbol.asyncIterator]();
  const next = async (ms: number) => {
    const reading = reader.next();
    await waitFor("the pause", () => clock.timers === 1);
    clock.advance(ms);
    const { value } = await reading;
    return value?.type === "text_delta" ? value.text : value?.type;
  };
  expect(await next(100)).toBe("one ");
  expect(await next(10)).toBe("two ");
  expect(await next(10)).toBe("three");
  expect((await reader.next()).value?.type).toBe("finish");
});

test("an abort ends a pause with its reason", async () => {
  const clock = new ManualClock();
  const abort = new AbortController();
  const asking = ask(open("- { text: late, delay_ms: 1000 }", { clock }), {}, abort.signal);
  await waitFor("the pause", () => clock.timers === 1);
  abort.abort("enough");
  expect((await asking).error).toBe("enough");
});

test("an echo says what the user said", async () => {
  const echo = createEchoModel({ id: "scripted/echo", clock: systemClock });
  const messages = [user("first"), said("first", "scripted/echo"), user(" two  words\n")];
  const asked = await ask(echo, { messages });
  expect(asked.text).toBe(" two  words\n");
  expect(asked.finish).toMatchObject({ model: "scripted/echo", stop_reason: "stop" });
  expect((await ask(echo, { messages: [] })).text).toBe("");
});
