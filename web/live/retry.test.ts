import { expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { retryDelay } from "./retry.ts";

test("the waits grow to half a minute", () => {
  const away = new Fault("host_unavailable", "away");
  expect([0, 1, 2, 4, 5, 50].map((attempts) => retryDelay(away, attempts))).toEqual([
    1000, 2000, 4000, 16_000, 30_000, 30_000,
  ]);
  expect(retryDelay(undefined, 0)).toBe(1000);
});

test("a server that says when to come back is not asked earlier", () => {
  const busy = new Fault("too_many", "too many", { details: { retry_after_s: 47 } });
  expect(retryDelay(busy, 0)).toBe(47_000);
  expect(retryDelay(new Fault("too_many", "x", { details: { retry_after_s: "x" } }), 0)).toBe(1000);
});

test("a browser that is signed out does not ask again", () => {
  expect(retryDelay(new Fault("unauthenticated", "no"), 0)).toBeUndefined();
});
