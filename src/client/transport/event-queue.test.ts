import { expect, test } from "vitest";
import { EventQueue } from "./event-queue.ts";

test("gives every event once and in order, also to a reader that stops and comes back", async () => {
  const taken: number[] = [];
  const queue = new EventQueue<number>((event) => taken.push(event));
  const count = 5000;
  for (let event = 0; event < count; event += 1) queue.push(event, 10);
  expect(queue.cost).toBe(count * 266);
  const read: number[] = [];
  for await (const event of queue) {
    read.push(event);
    if (event === 2500) break;
  }
  queue.end();
  queue.push(-1);
  for await (const event of queue) read.push(event);
  expect(read).toEqual(Array.from({ length: count }, (_, event) => event));
  expect(taken).toEqual(read);
  expect(queue.cost).toBe(0);
});

test("a reader that waits gets the next event, and hears of the end", async () => {
  const queue = new EventQueue<string>(() => undefined);
  const iterator = queue[Symbol.asyncIterator]();
  const first = iterator.next();
  queue.push("a", 1000);
  expect(await first).toEqual({ done: false, value: "a" });
  expect(queue.cost).toBe(0);
  const last = iterator.next();
  queue.end();
  expect(await last).toEqual({ done: true, value: undefined });
});
