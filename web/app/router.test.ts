import fc from "fast-check";
import { expect, test } from "vitest";
import { formatRoute, parseRoute, type Route } from "./router.ts";

const anyRoute: fc.Arbitrary<Route> = fc.oneof(
  fc.constantFrom<Route>(
    { name: "sessions" },
    { name: "audit" },
    { name: "tokens" },
    { name: "health" },
  ),
  fc.constantFrom("shell", "command", "agent").map((kind): Route => ({ name: "new", kind })),
  fc
    .string({ minLength: 1, unit: "grapheme" })
    .map((sessionId): Route => ({ name: "session", sessionId })),
  fc
    .record({
      sessionId: fc.string({ minLength: 1 }),
      at: fc.option(
        fc.nat(999_999_999).map((ms) => ms / 1000),
        { nil: undefined },
      ),
    })
    .map((fields): Route => ({ name: "recording", ...fields })),
);

test("a route is what its address says", () => {
  fc.assert(
    fc.property(anyRoute, (route) => {
      expect(parseRoute(formatRoute(route))).toEqual(route);
    }),
  );
});

test.each(["#/nothing", "#/s", "#/new/boat", "#/s/ses_a/b", "#/audit/2"])(
  "%s leads nowhere, and says so",
  (hash) => {
    expect(parseRoute(hash).name).toBe("unknown");
  },
);

test.each(["#/s/%", "#/s/ses_a/recording?t=-1", "#/s/ses_a/recording?t=x", "#/?ticket=1"])(
  "%s is read without a crash",
  (hash) => {
    expect(parseRoute(hash).name).not.toBe("unknown");
  },
);
