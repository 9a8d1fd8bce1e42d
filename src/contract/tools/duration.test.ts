import fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod";
import { limits } from "#contract/limits.ts";
import { parseRequest } from "#contract/parse.ts";
import { ToolDuration } from "./duration.ts";
import { describeDuration, parseDuration } from "./parse-duration.ts";

const DAY_MS = 86_400_000;
const LONGEST_MS = 3650 * DAY_MS;

test.each<[number | string, number]>([
  [30, 30_000],
  ["30", 30_000],
  [" 30 ", 30_000],
  ["30s", 30_000],
  ["250ms", 250],
  ["5m", 300_000],
  ["1h5m", 3_900_000],
  ["1h5m3s20ms", 3_903_020],
  ["1.5h", 5_400_000],
  [1.5, 1500],
  ["2.3h", 8_280_000],
  ["1d", DAY_MS],
  [2 ** 31, LONGEST_MS],
  ["25d", 25 * DAY_MS],
])("%j is %d ms", (given, ms) => {
  expect(parseDuration(given)).toBe(ms);
});

test.each([0, -0, "0", "0s", "0.0h", "0h0m"])("%j is exactly nothing", (given) => {
  expect(parseDuration(given)).toBe(0);
});

test.each([0.0001, 1e-9, Number.MIN_VALUE, "0.0001", "0.1ms"])(
  "%j is short, but not nothing",
  (given) => {
    expect(parseDuration(given)).toBe(1);
  },
);

test.each([1e15, 1e21, 1e22, Number.MAX_VALUE, "1000000000h", "9".repeat(400), "99999999999d"])(
  "%j is as long as anything is waited for",
  (given) => {
    expect(parseDuration(given)).toBe(LONGEST_MS);
    expect(limits.duration_ms).toBe(LONGEST_MS);
  },
);

test.each([
  ...[-1, -0.001, Number.NaN, "-1", "-5s", "1h-5m", "", " ", "soon", "NaN", "Infinity", "1e3"],
  ...["30x", "1h5", "5 0", "1 h", ".5", "1.", "1.h", "s", "0x10", "1,5h", "+3", "٣"],
])("%j is no duration", (given) => {
  expect(parseDuration(given)).toBeUndefined();
});

test("a sum of parts is the sum of its parts", () => {
  const part = fc.tuple(fc.nat(1000), fc.constantFrom("ms", "s", "m", "h"));
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
      const each = parts.map(([amount, unit]) => parseDuration(`${amount}${unit}`) ?? Number.NaN);
      const all = parts.map(([amount, unit]) => `${amount}${unit}`).join("");
      expect(parseDuration(all)).toBe(each.reduce((sum, ms) => sum + ms, 0));
    }),
  );
});

test("whatever is given, a duration is whole, not negative and bounded, or none", () => {
  const given = fc.oneof(fc.double(), fc.string(), fc.stringMatching(/^[\d.]{1,6}(ms|s|m|h|d)?$/));
  fc.assert(
    fc.property(given, (value) => {
      const ms = parseDuration(value) ?? 0;
      expect([Number.isSafeInteger(ms), ms >= 0, ms <= LONGEST_MS]).toEqual([true, true, true]);
    }),
  );
});

const Request = z.strictObject({ timeout: ToolDuration });

test("a request's duration becomes milliseconds", () => {
  expect(parseRequest(Request, { timeout: "1h5m" })).toEqual({ timeout: 3_900_000 });
  expect(parseRequest(Request, { timeout: 0 })).toEqual({ timeout: 0 });
});

test.each([-1, "-1s", "soon", "", null, true, [], {}, Number.NaN, undefined])(
  "%j in a request is a fault that says what a duration is",
  (timeout) => {
    expect(() => parseRequest(Request, { timeout })).toThrow(
      expect.objectContaining({
        code: "invalid_request",
        message: expect.stringMatching(
          /^timeout: a duration is a number of seconds, or like "30s"/,
        ),
      }),
    );
  },
);

test.each([
  [250, "250ms"],
  [1500, "1.5s"],
  [10_000, "10s"],
  [60_000, "1m"],
  [3_900_000, "1h5m"],
  [DAY_MS + 500, "1d0.5s"],
])("%i ms are said as %s, which means the same", (ms, text) => {
  expect(describeDuration(ms)).toBe(text);
  expect(parseDuration(text)).toBe(ms);
});
