import {
  mkdirSync,
  mkdtempDisposableSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeFileAtomic } from "./atomic-file.ts";

test("replaces a file as a whole, private, and leaves nothing else", () => {
  using temp = mkdtempDisposableSync(join(tmpdir(), "reins-atomic-"));
  const path = join(temp.path, "file");
  writeFileAtomic(path, "one");
  writeFileAtomic(path, "two");
  expect(readFileSync(path, "utf8")).toBe("two");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(temp.path)).toEqual(["file"]);
});

test("a failure leaves what was there and no temporary file", () => {
  using temp = mkdtempDisposableSync(join(tmpdir(), "reins-atomic-"));
  const path = join(temp.path, "folder");
  mkdirSync(join(path, "inside"), { recursive: true });
  expect(() => writeFileAtomic(path, "text")).toThrow();
  expect(readdirSync(temp.path)).toEqual(["folder"]);
  expect(readdirSync(path)).toEqual(["inside"]);
});

test("what a process left that died while it wrote stands in nobody's way", () => {
  using temp = mkdtempDisposableSync(join(tmpdir(), "reins-atomic-"));
  const path = join(temp.path, "file");
  // As it was named by any process of our number.
  for (let serial = 1; serial < 20; serial += 1)
    writeFileSync(`${path}.${process.pid}.${serial}.tmp`, "half");
  writeFileAtomic(path, "whole");
  expect(readFileSync(path, "utf8")).toBe("whole");
});
