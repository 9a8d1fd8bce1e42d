import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { StreamItem } from "#contract/operations.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { eventStream, formatEvent } from "./sse.ts";

interface Opened {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly clock: ManualClock;
  readonly ending: AbortController;
  readonly errors: unknown[];
  ends(): number;
  next(): Promise<string | undefined>;
}

function open(items: AsyncIterable<StreamItem<unknown>>): Opened {
  const clock = new ManualClock();
  const ending = new AbortController();
  const errors: unknown[] = [];
  let ends = 0;
  const onEnd = () => {
    ends += 1;
  };
  const { signal } = ending;
  const onError = (error: unknown) => void errors.push(error);
  const reader = eventStream(items, { clock, signal, onEnd, onError }).getReader();
  const next = async () => {
    const { value } = await reader.read();
    return value === undefined ? undefined : Buffer.from(value).toString();
  };
  return { reader, clock, ending, errors, ends: () => ends, next };
}

/** Holds something until it ends, as the handlers' streams do. */
async function* held(release: () => void, items: readonly StreamItem<unknown>[] = []) {
  using _held = { [Symbol.dispose]: release };
  yield* items;
  await new Promise(() => undefined);
}

test("an event has its id, its name and its data on one line", () => {
  const data = { type: "a.b", text: "two\nlines\r\n" };
  const text = formatEvent({ id: 7, data });
  expect(text).toBe('id: 7\nevent: a.b\ndata: {"type":"a.b","text":"two\\nlines\\r\\n"}\n\n');
  expect(formatEvent({ data: [1] })).toBe("data: [1]\n\n");
});

test("what was read from a text is said in that text, unless a line end is in it", () => {
  expect(formatEvent({ id: 7, data: { n: 100 }, text: ' {"n": 1e2 } ' })).toBe(
    'id: 7\ndata:  {"n": 1e2 } \n\n',
  );
  expect(formatEvent({ data: { n: 100 }, text: '{"n":\r1e2}' })).toBe('data: {"n":100}\n\n');
});

test("a quiet stream says that it is alive, once until that was taken", async () => {
  const { clock, next } = open(held(() => undefined));
  const first = next();
  await waitFor("somebody waits", () => clock.timers === 1);
  clock.advance(limits.heartbeat_ms);
  expect(await first).toBe(": alive\n\n");
  clock.advance(10 * limits.heartbeat_ms);
  expect(await next()).toBe(": alive\n\n");
  let isSecondTaken = false;
  const second = next().finally(() => {
    isSecondTaken = true;
  });
  await setImmediate();
  expect(isSecondTaken).toBe(false);
  clock.advance(limits.heartbeat_ms);
  expect(await second).toBe(": alive\n\n");
});

test("what goes wrong after the beginning is one more event, without the words of a bug", async () => {
  async function* broken() {
    yield { data: 1 };
    throw new Error("undefined is not a secret");
  }
  const { next, errors, ends, clock } = open(broken());
  expect(await next()).toBe("data: 1\n\n");
  expect(await next()).toMatch(/^event: error\ndata: \{"type":"error","code":"internal",/);
  expect(await next()).toBeUndefined();
  expect(errors).toMatchObject([{ message: "undefined is not a secret" }]);
  expect([ends(), clock.timers]).toEqual([1, 0]);
  const text = formatEvent({ data: errors });
  expect(text).not.toContain("secret");
});

test("who is sent away hears why", async () => {
  const ended = Promise.withResolvers<void>();
  async function* waiting(): AsyncGenerator<StreamItem<unknown>> {
    yield { data: 1 };
    await ended.promise;
  }
  const { next, ending } = open(waiting());
  await next();
  const last = next();
  ending.abort(new Fault("unauthenticated", "revoked"));
  ended.resolve();
  expect(await last).toContain('"code":"unauthenticated","message":"revoked"');
  expect(await next()).toBeUndefined();
});

test("a reader that leaves before it has read anything leaves nothing held", async () => {
  let releases = 0;
  const items = held(() => {
    releases += 1;
  }, [{ data: 1 }]);
  const { reader, ends, clock } = open(items);
  await reader.cancel();
  expect([releases, ends(), clock.timers]).toEqual([1, 1, 0]);
});
