import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { ask, openDialectModel, openTestModels, toRequest } from "#model/testing/ask.ts";
import { dialects, getDialect } from "#model/testing/dialects.ts";
import { openProviderServer } from "#model/testing/provider-server.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { FIRST_BYTE_MS, SILENCE_MS } from "./silence.ts";

const slow = { details: { cause: "timeout" } };

test.each(dialects)("$name: a provider that never begins is given up", async (dialect) => {
  const clock = new ManualClock();
  await using server = await openProviderServer({ after: "hang" });
  const asking = ask(openDialectModel(dialect, server, { clock }));
  await waitFor("the request", () => server.requests.length === 1);
  clock.advance(FIRST_BYTE_MS);
  expect((await asking).error).toMatchObject(slow);
  await waitFor("the server sees the end", () => server.requests[0]?.isAborted);
  expect(clock.timers).toBe(0);
});

test.each(dialects)("$name: one that falls silent is given up later", async (dialect) => {
  const clock = new ManualClock();
  const events = dialect.stream({ text: ["Hel", "lo"] });
  const middle = events.findIndex((event) => event.includes('"Hel"')) + 1;
  await using server = await openProviderServer({ body: events.slice(0, middle), after: "hang" });
  const signal = new AbortController().signal;
  const chunks = openDialectModel(dialect, server, { clock }).stream(toRequest(), { signal });
  const reader = chunks[Symbol.asyncIterator]();
  expect((await reader.next()).value).toEqual({ type: "text_delta", text: "Hel" });
  // Whoever takes their time with a chunk does not make the provider slow.
  clock.advance(10 * SILENCE_MS);
  const next = reader.next();
  await waitFor("somebody waits", () => clock.timers === 1);
  clock.advance(SILENCE_MS - 1);
  expect(clock.timers).toBe(1);
  expect(server.requests[0]?.isAborted).toBe(false);
  clock.advance(1);
  await expect(next).rejects.toMatchObject(slow);
});

test("a ping breaks the silence", async () => {
  const dialect = getDialect("Anthropic messages");
  const clock = new ManualClock();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const send = (text: string) => writer.write(Buffer.from(text));
  const models = openTestModels({
    keys: { ANTHROPIC_API_KEY: "test" },
    clock,
    fetch: async () => new Response(readable, { headers: { "content-type": "text/event-stream" } }),
  });
  const asking = ask(models.get(dialect.reference));
  await waitFor("somebody waits", () => clock.timers === 1);
  for (let pings = 0; pings < 5; pings += 1) {
    clock.advance(FIRST_BYTE_MS - 1);
    await send('event: ping\ndata: {"type":"ping"}\n\n');
  }
  for (const event of dialect.stream({ text: ["late"] })) await send(event);
  await writer.close();
  const asked = await asking;
  expect(asked.error).toBeUndefined();
  expect(asked.text).toBe("late");
});
