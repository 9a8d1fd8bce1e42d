import { expect, test } from "vitest";
import { Backoff, pause } from "./backoff.ts";

test("doubles from 100 ms to 5 s and begins again after a success", () => {
  const backoff = new Backoff(() => 1);
  const waits = Array.from({ length: 8 }, () => backoff.next());
  expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
  backoff.reset();
  expect(backoff.next()).toBe(100);
});

test("spreads over half of the wait and never less", () => {
  const short = new Backoff(() => 1, 300);
  expect([short.next(), short.next(), short.next(), short.next()]).toEqual([100, 200, 300, 300]);
  expect(new Backoff(() => 0).next()).toBe(50);
  expect(new Backoff(() => 0.5).next()).toBe(75);
});

test("a pause ends with its time, or with its signal's reason", async () => {
  await pause(1);
  const ending = new AbortController();
  const waiting = pause(1_000_000, ending.signal);
  ending.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await expect(pause(1, ending.signal)).rejects.toThrow("enough");
});
