import { describe, expect, test } from "vitest";
import { ask, openDialectModel } from "#model/testing/ask.ts";
import { getDialect } from "#model/testing/dialects.ts";
import { openProviderServer } from "#model/testing/provider-server.ts";
import { toFault } from "./failures.ts";

const at = { model: "p/m", secrets: [], now: Date.parse("2026-01-01T00:00:00Z") };
const causeOf = (error: unknown) => toFault(error, at).details.cause;

test.each([
  "This model's maximum context length is 4096 tokens",
  "the request exceeds the available context size. try increasing it",
  "prompt is too long: 9 tokens > 8 maximum",
  "input length and `max_tokens` exceed context limit: 9 + 8 > 10",
  "The input token count (9) exceeds the maximum number of tokens allowed (8).",
  "Your input exceeds the context window of this model.",
  "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  "Please reduce the length of the messages or completion.",
  "tokens to keep from the initial prompt is greater than the context length",
  "input length exceeds the context length",
  "Prompt contains 9 tokens, too large for model with 8 maximum context length",
  "Input is too long for requested model.",
])("%s is a context overflow", (message) => {
  expect(causeOf({ message, statusCode: 400 })).toBe("context_overflow");
  expect(causeOf({ message })).toBe("context_overflow");
});

test.each([
  [
    { statusCode: 429, message: "Request too large: reduce the length of the messages" },
    "rate_limited",
  ],
  [
    {
      statusCode: 429,
      message: "You exceeded your quota",
      data: { error: { code: "insufficient_quota" } },
    },
    "refused",
  ],
  [{ statusCode: 400, message: "API key not valid. Please pass a valid API key." }, "auth"],
  [{ message: "Overloaded", type: "overloaded_error" }, "unavailable"],
  [{ message: "slow", type: "rate_limit_error" }, "rate_limited"],
  [{ message: "bad gateway", code: 502 }, "unavailable"],
  [{ message: "bad gateway", code: "502" }, "unavailable"],
  [{ statusCode: 200, message: "Failed to process successful response" }, "malformed"],
  [new TypeError("terminated", { cause: new Error("other side closed") }), "unavailable"],
  [new Error("?", { cause: Object.assign(new Error("x"), { code: "ECONNRESET" }) }), "unavailable"],
  [Object.assign(new Error("x"), { name: "AI_JSONParseError" }), "malformed"],
  [Object.assign(new Error("x"), { name: "AI_TypeValidationError" }), "malformed"],
  [Object.assign(new Error("x"), { name: "AI_UnsupportedFunctionalityError" }), "refused"],
  ["a string", "malformed"],
  [undefined, "malformed"],
])("%j is %s", (error, cause) => {
  expect(causeOf(error)).toBe(cause);
});

describe("Retry-After", () => {
  const waitOf = (responseHeaders: object, responseBody = "") =>
    toFault({ statusCode: 429, message: "", responseHeaders, responseBody }, at).details
      .retry_after_ms;

  test("is seconds, a date or milliseconds", () => {
    expect(waitOf({ "retry-after": "3" })).toBe(3000);
    expect(waitOf({ "retry-after": "0.25" })).toBe(250);
    expect(waitOf({ "retry-after": "Thu, 01 Jan 2026 00:00:20 GMT" })).toBe(20_000);
    expect(waitOf({ "retry-after": "Thu, 01 Jan 1998 00:00:20 GMT" })).toBe(0);
    expect(waitOf({ "retry-after-ms": "1500", "retry-after": "9" })).toBe(1500);
  });

  test("is in the body at Google", () => {
    const body = '{"error":{"details":[{"@type":"RetryInfo","retryDelay": "34.5s"}]}}';
    expect(waitOf({}, body)).toBe(34_500);
  });

  test("is unknown when there is none or it is garbage", () => {
    expect(waitOf({})).toBeUndefined();
    expect(waitOf({ "retry-after": "soon" })).toBeUndefined();
  });
});

test("a page of HTML becomes one short line", () => {
  const { message } = toFault({ statusCode: 502, message: `<html>\n${"x".repeat(9000)}` }, at);
  expect(message).not.toContain("\n");
  expect(message.length).toBeLessThan(700);
});

test.each([
  [
    "Anthropic messages",
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    "unavailable",
  ],
  [
    "OpenAI responses",
    'data: {"type":"error","sequence_number":9,"error":{"type":"server_error","code":"server_error","message":"The server had an error","param":null}}\n\n',
    "unavailable",
  ],
  [
    "OpenAI responses",
    'data: {"type":"response.failed","sequence_number":9,"response":{"error":{"code":"rate_limit_exceeded","message":"Rate limit"}}}\n\n',
    "rate_limited",
  ],
  [
    "OpenAI-compatible",
    'data: {"error":{"message":"engine died","type":"server_error","code":500}}\n\n',
    "unavailable",
  ],
  [
    "Google streamGenerateContent",
    'data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}\n\n',
    "unavailable",
  ],
])("%s: an error in the middle of the stream is understood: %#", async (name, event, cause) => {
  const dialect = getDialect(name);
  const events = dialect.stream({ text: ["Hel", "lo"] });
  const middle = events.findIndex((each) => each.includes('"Hel"')) + 1;
  await using server = await openProviderServer({ body: [...events.slice(0, middle), event] });
  const asked = await ask(openDialectModel(dialect, server));
  expect(asked.error).toMatchObject({ code: "model_failed", details: { cause } });
});
