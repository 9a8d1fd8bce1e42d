import { expect, test } from "vitest";
import { everything, isNarrowed, parseChoice } from "./list-choice.ts";

test("what was chosen before is taken as it was, but for the search", () => {
  const kept = { phase: "ended", kind: "agent", order: "name", workspaceId: "wsp_a", search: "x" };
  expect(parseChoice(kept)).toEqual({ ...kept, search: "" });
});

test.each([null, 7, "x", [], {}, { phase: "never", kind: 1, order: {}, workspaceId: 3 }])(
  "%o is no choice, so everything is shown",
  (found) => {
    expect(parseChoice(found)).toEqual(everything);
  },
);

test("an order hides nothing; everything else may", () => {
  expect(isNarrowed({ ...everything, order: "name", search: "  " })).toBe(false);
  expect(isNarrowed({ ...everything, search: "x" })).toBe(true);
  expect(isNarrowed({ ...everything, phase: "ended" })).toBe(true);
  expect(isNarrowed({ ...everything, kind: "agent" })).toBe(true);
  expect(isNarrowed({ ...everything, workspaceId: "wsp_a" })).toBe(true);
});
