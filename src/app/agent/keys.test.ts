import { expect, test } from "vitest";
import { findKeys, withoutKeys } from "./keys.ts";

const names = ["A_KEY", "B_KEY", "C_KEY"];

test("keys are those of the names that are set", () => {
  const env = { A_KEY: "sk-long-enough", B_KEY: "", OTHER_KEY: "x" };
  expect(findKeys(env, names)).toEqual({ A_KEY: "sk-long-enough" });
});

test.each([
  ["the name of a key", { C_KEY: "of the caller's own" }],
  ["the value of a key", { ALIAS: "sk-long-enough" }],
  ["a key among other things", { HEADER: "Bearer sk-long-enough" }],
  ["a short key as a whole", { SHORT: "abc" }],
])("an environment loses %s", (_what, env) => {
  const keys = { A_KEY: "sk-long-enough", B_KEY: "abc" };
  const kept = { PATH: "/bin", TEXT: "abcdef" };
  expect(withoutKeys({ ...kept, ...env }, { names, keys })).toEqual(kept);
});
