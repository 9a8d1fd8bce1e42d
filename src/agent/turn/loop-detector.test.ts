import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { LoopDetector } from "./loop-detector.ts";

const MOST = limits.identical_calls;
const never = () => false;
const call = (input: unknown, tool = "execute") => [{ tool, input }];

/** How often it says so in this many looks at the same. */
function look(detector: LoopDetector, times: number, calls = call({ a: 1 })): boolean[] {
  return Array.from({ length: times }, () => detector.sees(calls, never));
}

test("the same batch in a row is seen at the limit, and then it counts anew", () => {
  const seen = look(new LoopDetector(), 2 * MOST);
  const at = seen.flatMap((isLoop, index) => (isLoop ? [index + 1] : []));
  expect(at).toEqual([MOST, 2 * MOST]);
});

test("another call between them begins anew", () => {
  const detector = new LoopDetector();
  expect(look(detector, MOST - 1)).not.toContain(true);
  expect(detector.sees(call({ a: 2 }), never)).toBe(false);
  expect(look(detector, MOST - 1)).not.toContain(true);
  expect(look(detector, 1)).toEqual([true]);
});

test("the order of keys says nothing; the order of calls, the tool and the values do", () => {
  const detector = new LoopDetector();
  const one = call({ a: 1, b: { c: [1, { d: 2, e: 3 }] } });
  const same = call({ b: { c: [1, { e: 3, d: 2 }] }, a: 1 });
  expect(look(detector, MOST - 1, one)).not.toContain(true);
  expect(detector.sees(same, never)).toBe(true);
  const others = [call({ a: 1 }, "x"), call({ a: [1] }), call({ a: "1" }), call([["a", 1]])];
  for (const other of others) {
    const each = new LoopDetector();
    look(each, MOST - 1);
    expect(each.sees(other, never)).toBe(false);
  }
  const pair = [...call(1), ...call(2)];
  const turned = pair.toReversed();
  const both = new LoopDetector();
  look(both, MOST - 1, pair);
  expect(both.sees(turned, never)).toBe(false);
});

test("polling is no loop, but a batch with something else in it is", () => {
  const isPolling = (tool: string) => tool === "process_output";
  const poll = call({ id: 1 }, "process_output");
  const detector = new LoopDetector();
  for (let n = 0; n < 3 * MOST; n += 1) expect(detector.sees(poll, isPolling)).toBe(false);
  const mixed = [...poll, ...call({ a: 1 })];
  const seen = Array.from({ length: MOST }, () => detector.sees(mixed, isPolling));
  expect(seen.at(-1)).toBe(true);
});
