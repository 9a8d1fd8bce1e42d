import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { ManualClock } from "./manual-clock.ts";
import { pause } from "./pause.ts";

test("a pause ends with its time or with its signal, and leaves nothing behind", async () => {
  const clock = new ManualClock();
  const over = new AbortController();
  const { signal } = over;
  const timed = pause(clock, 100, signal);
  clock.advance(100);
  await timed;
  expect(getEventListeners(signal, "abort")).toEqual([]);
  const cut = pause(clock, 100, signal);
  over.abort();
  await cut;
  await pause(clock, 100, signal);
  expect(clock.timers).toBe(0);
});
