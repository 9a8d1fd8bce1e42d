import { expect, test } from "vitest";
import { changeNames } from "./rename-input.ts";

test.each([
  ["a name that was typed", { name: " build ", title: "Make" }, { name: "build" }],
  ["another title", { name: "", title: "Make it" }, { title: "Make it" }],
  ["a title that was cleared", { name: "x", title: " " }, { name: "x", title: "" }],
])("%s is sent, and nothing that is unchanged", (_what, typed, changes) => {
  expect(changeNames({ name: null, title: "Make" }, typed)).toEqual(changes);
});

test("nothing is sent when nothing has changed", () => {
  const unchanged = changeNames({ name: null, title: "Make" }, { name: "", title: "Make " });
  expect(unchanged).toBeUndefined();
});

test("an empty field takes the name away", () => {
  expect(changeNames({ name: "build", title: "" }, { name: " ", title: "" })).toEqual({
    name: null,
  });
});
