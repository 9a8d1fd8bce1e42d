import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { quote, quoteIfNeeded } from "./shell-quote.ts";

const WORDS = ["", " ", "plain", "a b", "it's", "''", "$HOME", "`id`", "a\nb", "\\", "~", "*", "é"];

test.each([
  ["quote", quote],
  ["quoteIfNeeded", quoteIfNeeded],
])("a shell reads back what %s was given", (_, quoted) => {
  const line = `printf '%s\\0' ${WORDS.map(quoted).join(" ")}`;
  const printed = execFileSync("sh", ["-c", line], { encoding: "utf8" });
  expect(printed.split("\0").slice(0, -1)).toEqual(WORDS);
});

test("a plain word stays as it is, where people read it", () => {
  expect(["/a/b-1.txt", "a b"].map(quoteIfNeeded)).toEqual(["/a/b-1.txt", "'a b'"]);
});
