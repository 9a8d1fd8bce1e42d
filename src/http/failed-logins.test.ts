import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { FailedLogins } from "./failed-logins.ts";

const wrong = new Fault("unauthenticated", "wrong");

test("beyond the limit an address waits for the rest of its window, then begins anew", () => {
  const clock = new ManualClock();
  const logins = new FailedLogins(clock);
  for (let count = 0; count < limits.auth_failures; count += 1)
    expect(logins.add("a", wrong)).toBe(wrong);
  clock.advance(limits.auth_failures_window_ms - 1500);
  const refusal = logins.add("a", wrong);
  expect([refusal.code, refusal.details]).toEqual(["too_many", { retry_after_s: 2 }]);
  expect(logins.add("b", wrong)).toBe(wrong);
  clock.advance(1500);
  expect(logins.add("a", wrong)).toBe(wrong);
});

test("many addresses cost no more than a fixed number of windows, the oldest forgotten first", () => {
  const logins = new FailedLogins(new ManualClock());
  const fail = (address: string) => logins.add(address, wrong);
  for (let count = 0; count < limits.auth_failures; count += 1) fail("first");
  expect(fail("first").code).toBe("too_many");
  for (let count = 0; count < 10_000; count += 1) fail(`address ${count}`);
  expect(fail("first")).toBe(wrong);
});
