import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { failureCauses } from "#model/failure.ts";
import type { Model, ModelChunk } from "#model/model.ts";
import { ask, toRequest } from "#model/testing/ask.ts";
import { createFakeModel } from "#model/testing/fake-model.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { type ChainDeps, ModelChain } from "./chain.ts";

interface Watched {
  readonly chain: ModelChain;
  readonly clock: ManualClock;
  /** Asks once, with time flying by; how long it waited, and all chunks. */
  readonly ask: () => Promise<{
    readonly chunks: readonly ModelChunk[];
    readonly waits: readonly number[];
    readonly error: unknown;
  }>;
}

function watch(models: ChainDeps["models"], deps: Partial<ChainDeps> = {}): Watched {
  const clock = new ManualClock();
  const waits: number[] = [];
  const quick = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    timer: (ms: number, run: () => void) => {
      waits.push(ms);
      const timer = clock.timer(ms, run);
      queueMicrotask(() => clock.advance(ms));
      return timer;
    },
  };
  const chain = new ModelChain({ models, clock: quick, random: () => 0.5, ...deps });
  return {
    chain,
    clock,
    ask: async () => {
      waits.length = 0;
      const chunks: ModelChunk[] = [];
      const { signal } = new AbortController();
      try {
        for await (const chunk of chain.stream(toRequest(), { signal })) chunks.push(chunk);
        return { chunks, waits: [...waits], error: undefined };
      } catch (error) {
        return { chunks, waits: [...waits], error };
      }
    },
  };
}

const down = { cause: "unavailable", status: 500 } as const;
const refusal = { cause: "refused", status: 400 } as const;
const busy = { cause: "rate_limited", status: 429 } as const;

describe("a model that is broken", () => {
  test.each(["unavailable", "timeout", "malformed"] as const)(
    "is asked again after %s, later each time",
    async (cause) => {
      const model = createFakeModel("a/a", { cause }, { cause }, "hello");
      const { chunks, waits } = await watch([model]).ask();
      expect(waits).toEqual([200, 400]);
      expect(chunks.map((chunk) => chunk.type)).toEqual(["retry", "retry", "text_delta", "finish"]);
      expect(chunks.slice(0, 2)).toMatchObject([
        { attempt: 1, failed_model: "a/a", model: "a/a", reason: `a/a: it is ${cause}` },
        { attempt: 2, failed_model: "a/a", model: "a/a" },
      ]);
    },
  );

  test("is asked 1 + retries times, the waits grow to two seconds", async () => {
    const model = createFakeModel("a/a", down);
    const { waits, error } = await watch([model], { retries: 6 }).ask();
    expect(model.asked()).toBe(7);
    expect(waits).toEqual([200, 400, 800, 1600, 2000, 2000]);
    expect(error).toMatchObject({ message: "a/a: it is unavailable", details: { status: 500 } });
  });

  test("is asked once when no retries are wanted", async () => {
    const model = createFakeModel("a/a", down);
    await watch([model], { retries: 0 }).ask();
    expect(model.asked()).toBe(1);
  });

  test.each([
    [0, 180],
    [1, 220],
  ])("is waited for with a tenth of jitter: %d", async (random, expected) => {
    const { waits } = await watch([createFakeModel("a/a", down, "x")], {
      random: () => random,
    }).ask();
    expect(waits[0]).toBeCloseTo(expected, 6);
  });

  test("gives way to the next one after its attempts", async () => {
    const [a, b] = [createFakeModel("a/a", down), createFakeModel("b/b", "hello")];
    const { chunks } = await watch([a, b]).ask();
    expect([a.asked(), b.asked()]).toEqual([3, 1]);
    expect(chunks.at(2)).toMatchObject({
      type: "retry",
      attempt: 3,
      failed_model: "a/a",
      model: "b/b",
    });
    expect(chunks.at(-1)).toMatchObject({ type: "finish", model: "b/b" });
  });

  test("is the first to be asked the next time as well", async () => {
    const [a, b] = [
      createFakeModel("a/a", down, down, down, "back"),
      createFakeModel("b/b", "hello"),
    ];
    const watched = watch([a, b]);
    await watched.ask();
    const { chunks } = await watched.ask();
    expect(chunks.at(-1)).toMatchObject({ type: "finish", model: "a/a" });
  });

  test("has what it said before it broke voided", async () => {
    const model = createFakeModel("a/a", { says: "Hel", fails: "unavailable" }, "Hello");
    const { chunks } = await watch([model]).ask();
    expect(chunks.map((chunk) => chunk.type)).toEqual([
      "text_delta",
      "retry",
      "text_delta",
      "finish",
    ]);
    expect(
      (
        await ask(
          new ModelChain({
            models: [createFakeModel("a/a", "Hello")],
            clock: new ManualClock(),
            random: () => 0,
          }),
        )
      ).text,
    ).toBe("Hello");
  });

  test("has its attempts counted anew by the next one", async () => {
    const [a, b] = [createFakeModel("a/a", down), createFakeModel("b/b", down)];
    const { waits } = await watch([a, b], { retries: 1 }).ask();
    expect([a.asked(), b.asked()]).toEqual([2, 2]);
    expect(waits).toEqual([200, 200]);
  });
});

describe("a model that refuses", () => {
  test.each(["refused", "rate_limited", "auth", "context_overflow"] as const)(
    "with %s is left at once for the next",
    async (cause) => {
      const [a, b] = [
        createFakeModel("a/a", { cause, retry_after_ms: 10 }),
        createFakeModel("b/b", "hello"),
      ];
      const { waits, error } = await watch([a, b]).ask();
      expect(error).toBeUndefined();
      expect([a.asked(), b.asked(), waits.length]).toEqual([1, 1, 0]);
    },
  );

  test.each(["refused", "auth", "context_overflow"] as const)(
    "with %s and nobody behind it is not asked again",
    async (cause) => {
      const model = createFakeModel("a/a", { cause });
      const { error, chunks } = await watch([model]).ask();
      expect(model.asked()).toBe(1);
      expect(chunks).toEqual([]);
      expect(error).toMatchObject({ code: "model_failed", details: { cause, model: "a/a" } });
    },
  );

  test("stays behind its stand-in for the cooldown, no longer", async () => {
    const [a, b] = [createFakeModel("a/a", refusal), createFakeModel("b/b", "hello")];
    const watched = watch([a, b], { cooldown_ms: 5000 });
    await watched.ask();
    expect(watched.chain.id).toBe("b/b");
    watched.clock.advance(4999);
    await watched.ask();
    expect([a.asked(), b.asked()]).toEqual([1, 2]);
    watched.clock.advance(1);
    expect(watched.chain.id).toBe("a/a");
    await watched.ask();
    expect([a.asked(), b.asked()]).toEqual([2, 3]);
  });

  test("stays behind for a minute if nobody says how long", async () => {
    const watched = watch([createFakeModel("a/a", refusal), createFakeModel("b/b", "hello")]);
    await watched.ask();
    watched.clock.advance(59_999);
    expect(watched.chain.id).toBe("b/b");
    watched.clock.advance(1);
    expect(watched.chain.id).toBe("a/a");
  });

  test("is asked after all when its stand-in fails", async () => {
    const [a, b] = [
      createFakeModel("a/a", refusal, "back"),
      createFakeModel("b/b", "hello", refusal),
    ];
    const watched = watch([a, b]);
    await watched.ask();
    const { chunks } = await watched.ask();
    expect(chunks.at(-1)).toMatchObject({ type: "finish", model: "a/a" });
    expect(watched.chain.id).toBe("a/a");
  });
});

describe("a model that asks to slow down", () => {
  test("is asked again after just that time when there is no other", async () => {
    const model = createFakeModel("a/a", { ...busy, retry_after_ms: 60_000 }, "hello");
    const { waits, error } = await watch([model]).ask();
    expect(error).toBeUndefined();
    expect(waits).toEqual([60_000]);
  });

  test("is not waited for longer than a minute", async () => {
    const model = createFakeModel("a/a", { ...busy, retry_after_ms: 60_001 });
    const { waits, error } = await watch([model]).ask();
    expect(waits).toEqual([]);
    expect(error).toMatchObject({ details: { cause: "rate_limited", retry_after_ms: 60_001 } });
  });

  test("without saying how long is asked again as a broken one", async () => {
    const model = createFakeModel("a/a", busy);
    const { waits } = await watch([model]).ask();
    expect(waits).toEqual([200, 400]);
  });
});

describe("when no model answers", () => {
  test("every reason is told", async () => {
    const { error } = await watch([
      createFakeModel("a/a", refusal),
      createFakeModel("b/b", busy),
    ]).ask();
    expect(error).toMatchObject({
      code: "model_failed",
      message: "no model answered: a/a: it is refused; b/b: it is rate_limited",
      details: {
        cause: "rate_limited",
        model: "b/b",
        failures: [
          { cause: "refused", model: "a/a", status: 400 },
          { cause: "rate_limited", model: "b/b", status: 429 },
        ],
      },
    });
  });

  test("a conversation that is too long for one of them is what matters", async () => {
    const overflow = { cause: "context_overflow" } as const;
    const { error } = await watch([
      createFakeModel("a/a", overflow),
      createFakeModel("b/b", refusal),
    ]).ask();
    expect(error).toMatchObject({ details: { cause: "context_overflow", model: "a/a" } });
  });
});

test("a script that is wrong ends it at once", async () => {
  const [a, b] = [createFakeModel("a/a", { cause: "script" }), createFakeModel("b/b", "hello")];
  const { error } = await watch([a, b]).ask();
  expect(error).toMatchObject({ details: { cause: "script" } });
  expect(b.asked()).toBe(0);
});

test("a bug is not retried", async () => {
  const bug = new TypeError("oops");
  let asked = 0;
  const model: Model = {
    ...createFakeModel("a/a", "x"),
    // biome-ignore lint/correctness/useYield: a stream that fails before its first chunk.
    stream: async function* () {
      asked += 1;
      throw bug;
    },
  };
  expect((await watch([model]).ask()).error).toBe(bug);
  expect(asked).toBe(1);
});

test("an abort ends the waiting with its reason, and nobody is asked again", async () => {
  const clock = new ManualClock();
  const model = createFakeModel("a/a", down);
  const chain = new ModelChain({ models: [model], clock, random: () => 0.5 });
  const abort = new AbortController();
  const asking = ask(chain, {}, abort.signal);
  await waitFor("the backoff", () => clock.timers === 1);
  abort.abort("enough");
  expect((await asking).error).toBe("enough");
  expect([model.asked(), clock.timers]).toEqual([1, 0]);
});

test("whatever the models do, a chain gives one whole answer or one fault, and asks nobody too often", async () => {
  const play = fc.oneof(
    fc.constant("hello"),
    fc.constantFrom(...failureCauses).map((cause) => ({ cause })),
    fc.constantFrom(...failureCauses).map((fails) => ({ says: "hel", fails })),
  );
  const plays = fc.array(play, { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.array(plays, { minLength: 1, maxLength: 3 }), async (all) => {
      const models = all.map(([first = "hello", ...rest], index) =>
        createFakeModel(`m/${index}`, first, ...rest),
      );
      const [primary = createFakeModel("m/x", "hello"), ...others] = models;
      const { chunks, error } = await watch([primary, ...others]).ask();
      const last = chunks.slice(chunks.findLastIndex((chunk) => chunk.type === "retry") + 1);
      const isWhole = last.map((chunk) => chunk.type).join() === "text_delta,finish";
      expect(isWhole).toBe(error === undefined);
      for (const model of models) expect(model.asked()).toBeLessThanOrEqual(3);
    }),
  );
});
