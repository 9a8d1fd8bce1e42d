import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { TailSignal } from "./tail-signal.ts";

test("tells all who wait for a tail past theirs, and only them", async () => {
  const tails = new TailSignal(10);
  const { signal } = new AbortController();
  const told: number[] = [];
  const waits = [10, 10, 15].map((past) =>
    tails.moved(past, { signal }).then(() => told.push(past)),
  );
  expect(tails.waiting).toBe(3);
  tails.advance(12);
  await Promise.all(waits.slice(0, 2));
  expect(told).toEqual([10, 10]);
  expect(tails.waiting).toBe(1);
  tails.advance(16);
  await Promise.all(waits);
  expect([told, tails.waiting, tails.current()]).toEqual([[10, 10, 15], 0, 16]);
});

test("does not wait for a tail that is there, and never goes back", async () => {
  const tails = new TailSignal();
  const { signal } = new AbortController();
  tails.advance(5);
  tails.advance(3);
  await tails.moved(4, { signal });
  expect(tails.current()).toBe(5);
});

test("an abort ends the wait and leaves nothing behind", async () => {
  const tails = new TailSignal();
  const abort = new AbortController();
  const wait = tails.moved(0, { signal: abort.signal });
  abort.abort(new Error("enough"));
  await expect(wait).rejects.toThrow("enough");
  await expect(tails.moved(0, { signal: abort.signal })).rejects.toThrow("enough");
  expect(tails.waiting).toBe(0);
  expect(getEventListeners(abort.signal, "abort")).toEqual([]);
});
