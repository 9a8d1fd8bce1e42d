import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { ask, openDialectModel, toRequest, user } from "#model/testing/ask.ts";
import { dialects, KEY } from "#model/testing/dialects.ts";
import { openProviderServer } from "#model/testing/provider-server.ts";
import { waitFor } from "#test/harness/eventually.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = { type: "image", media_type: "image/png", data_b64: PIXEL } as const;
const inputSchema = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
};
const tool = { name: "read_file", description: "Reads a file.", input_schema: inputSchema };

describe.each(dialects)("$name", (dialect) => {
  const hasReasoning = dialect.name !== "OpenAI chat completions";

  test("streams reasoning, text and parallel calls, and counts what they cost", async () => {
    await using server = await openProviderServer({
      body: dialect.stream({
        reasoning: ["hm, ", "well"],
        text: ["Hel", "lo"],
        calls: [
          { id: "call_a", tool: "read", raw: ['{"pa', 'th":"a"}'] },
          { id: "call_b", tool: "read", raw: ['{"path":"b"}'] },
        ],
        stop: "tool_calls",
      }),
    });
    const model = openDialectModel(dialect, server, {
      config: { cost: { input: 1000, output: 100, cached_input: 100 } },
    });
    const asked = await ask(model);
    expect(asked.error).toBeUndefined();
    expect(asked.reasoning).toBe(hasReasoning ? "hm, well" : "");
    expect(asked.text).toBe("Hello");
    expect(asked.calls.map(({ tool: name, input }) => ({ name, input }))).toEqual([
      { name: "read", input: { path: "a" } },
      { name: "read", input: { path: "b" } },
    ]);
    expect(new Set(asked.calls.map((call) => call.key)).size).toBe(2);
    expect(asked.finish).toMatchObject({
      model: dialect.reference,
      stop_reason: "tool_calls",
      usage: { input_tokens: 100, output_tokens: 30, cached_input_tokens: 40 },
    });
    // 60 × 1000 + 40 × 100 + 30 × 100, for a million.
    expect(asked.finish?.usage.cost).toBeCloseTo(0.067, 10);
  });

  test("starts every call before it ends, and repeats its pieces", async () => {
    await using server = await openProviderServer({
      body: dialect.stream({ calls: [{ id: "call_a", tool: "read", raw: ['{"path":', '"a"}'] }] }),
    });
    const { chunks } = await ask(openDialectModel(dialect, server));
    expect(chunks.at(0)).toMatchObject({ type: "call_start", tool: "read" });
    expect(chunks.at(-2)?.type).toBe("call_end");
    const pieces = chunks.flatMap((chunk) => (chunk.type === "call_delta" ? [chunk.text] : []));
    expect(JSON.parse(pieces.join(""))).toEqual({ path: "a" });
    expect(chunks.at(-1)).toMatchObject({ type: "finish", stop_reason: "tool_calls" });
  });

  test("says that an answer was too long for its limit", async () => {
    await using server = await openProviderServer({
      body: dialect.stream({ text: ["an"], stop: "length" }),
    });
    const asked = await ask(openDialectModel(dialect, server));
    expect(asked.finish?.stop_reason).toBe("length");
  });

  test("sends the key, the tools, the images and the schema of the answer", async () => {
    await using server = await openProviderServer({ body: dialect.stream({ text: ["{}"] }) });
    await ask(openDialectModel(dialect, server), {
      messages: [
        { role: "system", text: "Be brief." },
        { role: "user", content: [{ type: "text", text: "What is this?" }, image] },
      ],
      tools: [tool],
      structured_output: {
        name: "colour",
        schema: {
          type: "object",
          properties: { hue: { type: "string" } },
          required: ["hue"],
          additionalProperties: false,
        },
      },
    });
    const [request] = server.requests;
    expect(request?.path).toBe(dialect.path);
    expect(Object.values(request?.headers ?? {}).join(" ")).toContain(KEY);
    const sent = JSON.stringify(request?.body);
    for (const part of ["Be brief.", "What is this?", PIXEL, "read_file", '"hue"']) {
      expect(sent).toContain(part);
    }
  });

  test("sends a history of calls and results, with the tools' images and failures", async () => {
    await using server = await openProviderServer({ body: dialect.stream({ text: ["ok"] }) });
    const asked = await ask(openDialectModel(dialect, server), {
      messages: [
        user("look"),
        {
          role: "assistant",
          model: dialect.reference,
          parts: [
            { type: "text", text: "I look." },
            { type: "tool_call", call_id: "a:1", tool: "read_file", input: { path: "x.png" } },
            { type: "tool_call", call_id: "b:2", tool: "read_file", input: undefined },
          ],
        },
        {
          role: "tool",
          results: [
            {
              call_id: "a:1",
              tool: "read_file",
              output: "an image",
              is_error: false,
              images: [image],
            },
            { call_id: "b:2", tool: "read_file", output: "no such file", is_error: true },
          ],
        },
        { role: "system", text: "A note in the middle." },
        user("and?"),
      ],
      tools: [tool],
    });
    expect(asked.error).toBeUndefined();
    const sent = JSON.stringify(server.requests[0]?.body);
    for (const part of [
      "I look.",
      "x.png",
      "an image",
      PIXEL,
      "no such file",
      "A note in the middle.",
    ]) {
      expect(sent).toContain(part);
    }
  });

  test("tells how long a provider asks to wait", async () => {
    await using server = await openProviderServer({
      status: 429,
      headers: { "retry-after": "7", "content-type": "application/json" },
      body: [dialect.error("Slow down, please", { type: "rate_limit_error", status: 429 })],
    });
    const { error } = await ask(openDialectModel(dialect, server));
    expect(error).toBeInstanceOf(Fault);
    expect(error).toMatchObject({
      code: "model_failed",
      message: expect.stringContaining("Slow down, please"),
      details: {
        cause: "rate_limited",
        model: dialect.reference,
        status: 429,
        retry_after_ms: 7000,
      },
    });
  });

  test("recognises a conversation that is too long", async () => {
    const { status, body } = dialect.overflow;
    await using server = await openProviderServer({ status, body: [body] });
    const { error } = await ask(openDialectModel(dialect, server));
    expect(error).toMatchObject({ details: { cause: "context_overflow" } });
  });

  test("never repeats the key, whoever quotes it", async () => {
    await using server = await openProviderServer({
      status: 401,
      body: [dialect.error(`Wrong key ${KEY}!`, { type: "authentication_error", status: 401 })],
    });
    const { error } = await ask(openDialectModel(dialect, server));
    expect(error).toMatchObject({
      message: expect.stringContaining("Wrong key ***!"),
      details: { cause: "auth", status: 401 },
    });
    expect(error).not.toHaveProperty("cause");
    expect(JSON.stringify(error)).not.toContain(KEY);
  });

  test.each([
    [500, "unavailable"],
    [503, "unavailable"],
    [529, "unavailable"],
    [400, "refused"],
    [404, "refused"],
    [403, "auth"],
    [408, "timeout"],
    [413, "context_overflow"],
  ])("takes status %i for %s", async (status, cause) => {
    await using server = await openProviderServer({
      status,
      body: [dialect.error("no", { type: "some_error", status })],
    });
    const { error } = await ask(openDialectModel(dialect, server));
    expect(error).toMatchObject({ code: "model_failed", details: { cause, status } });
  });

  test.each(["cut", "end"] as const)(
    "fails when the stream breaks off in the middle: %s",
    async (after) => {
      const events = dialect.stream({ text: ["Hel", "lo"] });
      const middle = events.findIndex((event) => event.includes("Hel")) + 1;
      await using server = await openProviderServer({ body: events.slice(0, middle), after });
      const asked = await ask(openDialectModel(dialect, server));
      expect(asked.error).toMatchObject({
        code: "model_failed",
        details: { cause: "unavailable" },
      });
      expect(asked.finish).toBeUndefined();
    },
  );

  test("fails when there is no answer in the stream at all", async () => {
    await using server = await openProviderServer({ body: [] });
    const asked = await ask(openDialectModel(dialect, server));
    expect(asked.error).toMatchObject({ details: { cause: "unavailable" } });
  });

  test.each(["data: {oops\n\n", 'data: {"candidates":7,"choices":7,"type":7}\n\n'])(
    "fails on a chunk that is none: %j",
    async (garbage) => {
      const events = dialect.stream({ text: ["Hel", "lo"] });
      const middle = events.findIndex((event) => event.includes("Hel")) + 1;
      await using server = await openProviderServer({
        body: [...events.slice(0, middle), garbage, ...events.slice(middle)],
      });
      const asked = await ask(openDialectModel(dialect, server));
      expect(asked.error).toMatchObject({ details: { cause: "malformed" } });
    },
  );

  test("fails when nobody listens at the address", async () => {
    const server = await openProviderServer({});
    await server[Symbol.asyncDispose]();
    const { error } = await ask(openDialectModel(dialect, server));
    expect(error).toMatchObject({ details: { cause: "unavailable" } });
  });

  test("does not follow a redirect with the key", async () => {
    await using elsewhere = await openProviderServer({ body: dialect.stream({ text: ["hi"] }) });
    await using server = await openProviderServer({
      status: 307,
      headers: { location: `${elsewhere.url}/x` },
    });
    const { error } = await ask(openDialectModel(dialect, server));
    expect(error).toMatchObject({
      message: expect.stringContaining(elsewhere.url),
      details: { cause: "refused" },
    });
    expect(elsewhere.requests).toEqual([]);
  });

  test("closes the connection when it is aborted, and throws the reason", async () => {
    const events = dialect.stream({ text: ["Hel", "lo"] });
    const middle = events.findIndex((event) => event.includes("Hel")) + 1;
    await using server = await openProviderServer({ body: events.slice(0, middle), after: "hang" });
    const abort = new AbortController();
    const asking = ask(openDialectModel(dialect, server), {}, abort.signal);
    await waitFor("the request", () => server.requests.length === 1);
    const reason = new Error("enough");
    abort.abort(reason);
    expect((await asking).error).toBe(reason);
    await waitFor("the server sees the end", () => server.requests[0]?.isAborted);
  });

  test("closes the connection when its reader leaves", async () => {
    const events = dialect.stream({ text: ["Hel", "lo"] });
    const middle = events.findIndex((event) => event.includes('"lo"')) + 1;
    await using server = await openProviderServer({ body: events.slice(0, middle), after: "hang" });
    const signal = new AbortController().signal;
    for await (const chunk of openDialectModel(dialect, server).stream(toRequest(), { signal })) {
      if (chunk.type === "text_delta") break;
    }
    await waitFor("the server sees the end", () => server.requests[0]?.isAborted);
  });

  test("gives the same text however the bytes are cut into pieces", async () => {
    const text = ["Grüße, ", "世界 ", "🎉🎊", '"quoted"\n\n', "data: end"];
    const bytes = Buffer.from(dialect.stream({ text }).join(""));
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const edges = [0, ...places.toSorted((a, b) => a - b), bytes.length];
        const body = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
        await using server = await openProviderServer({ body });
        const asked = await ask(openDialectModel(dialect, server));
        expect(asked.error).toBeUndefined();
        expect(asked.text).toBe(text.join(""));
      }),
      { numRuns: 15 },
    );
  });
});
