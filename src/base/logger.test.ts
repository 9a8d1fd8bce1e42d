import { existsSync, mkdtempDisposableSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openFileLogger } from "./logger.ts";
import { randomId } from "./random-id.ts";

test("writes one JSON object a line, private, and keeps one file before the current one", () => {
  using temp = mkdtempDisposableSync(join(tmpdir(), "reins-logger-"));
  const path = join(temp.path, "log");
  using logger = openFileLogger(path, () => 0);
  logger.error("it failed", { error: new Error("boom"), n: 1 });
  const line = JSON.parse(readFileSync(path, "utf8"));
  expect(line).toMatchObject({
    at: "1970-01-01T00:00:00.000Z",
    level: "error",
    message: "it failed",
    n: 1,
  });
  expect(line.error).toContain("boom");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  writeFileSync(path, "x".repeat(5 * 1024 * 1024));
  // The size is looked at now and then, not for every line.
  for (let line = 0; line < 1000; line += 1) logger.info("after", { pad: "x".repeat(100) });
  expect(statSync(path).size).toBeLessThan(1_000_000);
  expect(existsSync(`${path}.1`)).toBe(true);
});

test("fields that are no JSON stop nobody, and the line is there without them", () => {
  using temp = mkdtempDisposableSync(join(tmpdir(), "reins-logger-"));
  const path = join(temp.path, "log");
  using logger = openFileLogger(path, () => 0);
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  logger.warn("odd", { circle });
  logger.warn("large", { bytes: 1n });
  const lines = readFileSync(path, "utf8").trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { message: "odd", fields: expect.stringContaining("circular") },
    { message: "large", fields: expect.stringContaining("BigInt") },
  ]);
});

test("a log that cannot be written stops nobody", () => {
  using logger = openFileLogger("/no/such/folder/log", () => 0);
  logger.warn("unheard");
});

test("ids have their prefix, 16 letters or digits, and do not repeat", () => {
  const ids = Array.from({ length: 2000 }, () => randomId("ses"));
  for (const id of ids) expect(id).toMatch(/^ses_[0-9a-z]{16}$/);
  expect(new Set(ids).size).toBe(ids.length);
});
