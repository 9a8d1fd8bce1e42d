import { expect, test } from "vitest";
import { systemClock } from "./clock.ts";
import { ManualClock } from "./manual-clock.ts";

test("a timer longer than Node's limit does not fire at once", async () => {
  let fired = false;
  using _long = systemClock.timer(2 ** 31 + 1000, () => {
    fired = true;
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  using _short = systemClock.timer(20, resolve);
  // The clock's timers keep no process alive; this one does.
  const hold = setInterval(() => undefined, 1000);
  await promise;
  clearInterval(hold);
  expect(fired).toBe(false);
});

test("a manual clock runs timers in the order in which they fall due, new ones included", () => {
  const clock = new ManualClock();
  const seen: string[] = [];
  clock.timer(20, () => seen.push(`b ${clock.monotonic()}`));
  clock.timer(10, () => {
    seen.push(`a ${clock.monotonic()}`);
    clock.timer(5, () => seen.push(`a2 ${clock.monotonic()}`));
  });
  clock.timer(15, () => seen.push("cancelled"))[Symbol.dispose]();
  clock.advance(30);
  expect(seen).toEqual(["a 10", "a2 15", "b 20"]);
  expect(clock.timers).toBe(0);
});
