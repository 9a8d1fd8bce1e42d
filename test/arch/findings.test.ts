import { expect, test } from "vitest";
import { listFiles, readFile } from "./sources.ts";

const FINDINGS = 41;

test("every finding has a rule and a test that exists", () => {
  const rows = [
    ...readFile("test/e2e/FINDINGS.md").matchAll(/^\| (\d+) +\| (.+?) +\| (.+?) +\| `(.+)` +\|$/gm),
  ];
  const tests = listFiles("{src,test}/**/*.test.ts").map(readFile).join("\n");
  expect(rows.map((row) => Number(row[1]))).toEqual(
    Array.from({ length: FINDINGS }, (_, index) => index + 1),
  );
  expect(rows.map((row) => row[4] ?? "").filter((title) => !tests.includes(`"${title}"`))).toEqual(
    [],
  );
});
