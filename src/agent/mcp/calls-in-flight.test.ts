import { expect, test } from "vitest";
import type { Answer } from "#agent/toolset.ts";
import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { createToolContext } from "#test/harness/tool-context.ts";
import { CALL_SILENT_MS, CallInFlight, CallsInFlight, QUESTIONS_MOST } from "./calls-in-flight.ts";

test("progress is told in words or in numbers, and not too often", () => {
  const clock = new ManualClock();
  const context = createToolContext();
  const call = new CallInFlight(context, clock);
  call.report({ progress: 1, message: "first" });
  clock.advance(199);
  call.report({ progress: 2, message: "too soon" });
  clock.advance(1);
  call.report({ progress: 3, total: 4 });
  clock.advance(200);
  call.report({ progress: 5 });
  expect(context.reports).toEqual(["first", "3 of 4", "5"]);
});

test("a call that reports is waited for", () => {
  const clock = new ManualClock();
  const call = new CallInFlight(createToolContext(), clock);
  clock.advance(CALL_SILENT_MS - 1);
  call.report({ progress: 1 });
  clock.advance(CALL_SILENT_MS - 1);
  expect(call.signal.aborted).toBe(false);
  clock.advance(1);
  expect(call.signal.aborted).toBe(true);
  expect(call.problem).toMatch(/^nothing was heard/);
});

test("a call that has ended waits for nothing", () => {
  const clock = new ManualClock();
  const calls = new CallsInFlight({ clock, log: silentLogger });
  const call = calls.open(createToolContext());
  expect(clock.timers).toBe(1);
  calls.close(call);
  call.report({ progress: 1 });
  expect(clock.timers).toBe(0);
});

test("a question without a call, or one that is too long, is declined", async () => {
  const calls = new CallsInFlight({ clock: new ManualClock(), log: silentLogger });
  const question = { message: "Well?", schema: {} };
  expect(await calls.answer(question)).toEqual({ action: "decline" });
  const context = createToolContext({ action: "accept" });
  calls.open(context);
  const long = { ...question, message: "?".repeat(64 * 1024) };
  expect(await calls.answer(long)).toEqual({ action: "decline" });
  expect(await calls.answer(question)).toEqual({ action: "accept" });
  expect(context.questions).toEqual([question]);
});

test("questions of one call are asked one after the other, and too many are declined", async () => {
  const calls = new CallsInFlight({ clock: new ManualClock(), log: silentLogger });
  const answers: ((answer: Answer) => void)[] = [];
  const questions: string[] = [];
  const call = calls.open({
    ...createToolContext(),
    elicit: ({ message }) => {
      questions.push(message);
      return new Promise((resolve) => void answers.push(resolve));
    },
  });
  const ask = (message: string) => calls.answer({ message, schema: {} });
  const names = Array.from({ length: QUESTIONS_MOST }, (_, at) => `${at}?`);
  const asked = names.map(ask);
  expect(await ask("one too many?")).toEqual({ action: "decline" });
  await waitFor("the first question", () => answers.length > 0);
  expect(questions).toEqual(["0?"]);
  answers[0]?.({ action: "accept" });
  expect(await asked[0]).toEqual({ action: "accept" });
  await waitFor("the second question", () => answers.length > 1);
  // Nobody is asked for a call that is over.
  calls.close(call);
  answers[1]?.({ action: "cancel" });
  expect(await Promise.all(asked.slice(1))).toEqual([
    { action: "cancel" },
    ...names.slice(2).map(() => ({ action: "decline" })),
  ]);
  expect(questions).toEqual(["0?", "1?"]);
});
