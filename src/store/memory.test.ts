import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "#base/clock.ts";
import { MEMORIES_PER_TEAM } from "#contract/agent/memory.ts";
import { openTestMemories } from "#test/harness/memories.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { openMemories, plainSteps } from "./memory.ts";
import { contend } from "./testing/contend.ts";
import { collect, runSql } from "./testing/test-store.ts";

const texts = (found: readonly { readonly text: string }[]) => found.map(({ text }) => text);

describe.each([
  ["with an index of words", undefined],
  ["without one", plainSteps],
])("%s", (_how, steps) => {
  test("what is added is found by any of its words, the best first", () => {
    using memories = openTestMemories(steps);
    const team = memories.of("a");
    team.add("the build needs Node 24");
    team.add("tests of the build run with vitest");
    team.add("Ann likes short answers");
    expect(texts(team.search("build vitest", 10))).toEqual([
      "tests of the build run with vitest",
      "the build needs Node 24",
    ]);
    expect(texts(team.search("answ", 10))).toEqual(["Ann likes short answers"]);
    expect(texts(team.search("build", 1))).toHaveLength(1);
    expect(team.search("zebra", 10)).toEqual([]);
  });

  test("what was forgotten is not found, and an id of another team is none", () => {
    using memories = openTestMemories(steps);
    const { memory_id } = memories.of("a").add("red");
    expect(memories.of("b").remove(memory_id)).toBe(false);
    expect(memories.of("b").search("red", 10)).toEqual([]);
    expect(memories.of("b").list(10)).toEqual([]);
    expect(memories.of("a").remove(memory_id)).toBe(true);
    expect(memories.of("a").remove(memory_id)).toBe(false);
    expect(memories.of("a").search("red", 10)).toEqual([]);
    expect(memories.of("a").count()).toBe(0);
  });

  test.each([
    '"',
    "q AND",
    "NEAR(",
    "*",
    "'; DROP TABLE memories",
    "%",
    "_",
    "\\",
    "(",
    " ",
    "text:x",
  ])("the query %j is only words", (query) => {
    using memories = openTestMemories(steps);
    const team = memories.of("a");
    team.add("harmless");
    expect(team.search(query, 10)).toEqual([]);
  });

  test("signs and languages without blanks are found as well", () => {
    using memories = openTestMemories(steps);
    const team = memories.of("a");
    team.add("构建需要网络");
    team.add("100%");
    expect(texts(team.search("需要", 10))).toEqual(["构建需要网络"]);
    expect(texts(team.search("%", 10))).toEqual(["100%"]);
  });
});

test("the same text is remembered once, with the time of the first", () => {
  using memories = openTestMemories();
  const team = memories.of("a");
  const first = team.add("once");
  memories.clock.advance(1000);
  expect(team.add(" once ")).toEqual(first);
  expect(team.count()).toBe(1);
  expect(memories.of("b").add("once")).not.toEqual(first);
});

test("the newest come first", () => {
  using memories = openTestMemories();
  const team = memories.of("a");
  for (const text of ["1", "2", "3"]) team.add(text);
  expect(texts(team.list(2))).toEqual(["3", "2"]);
});

test.each(["", "  ", "x".repeat(4001)])("a text of the wrong length is refused", (text) => {
  using memories = openTestMemories();
  expect(() => memories.of("a").add(text)).toThrow(
    expect.objectContaining({ code: "invalid_request" }),
  );
});

test("a team has no more memories than it may, and another one still has room", () => {
  using memories = openTestMemories();
  const team = memories.of("a");
  runSql(
    memories.path,
    `INSERT INTO memories (memory_id, team, text, created_at)
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MEMORIES_PER_TEAM})
     SELECT printf('mem_%016d', i), 'a', 'fact ' || i, '2026-01-01T00:00:00.000Z' FROM n`,
  );
  expect(team.count()).toBe(MEMORIES_PER_TEAM);
  expect(() => team.add("one more")).toThrow(expect.objectContaining({ code: "too_many" }));
  expect(team.add("fact 7").memory_id).toBe("mem_0000000000000007");
  expect(memories.of("b").add("one more").text).toBe("one more");
});

test("memories outlive the process, private to their owner", () => {
  using dir = openTempDir();
  const path = join(dir.path, "memory.db");
  {
    using memories = openMemories({ path, clock: systemClock });
    memories.of("a").add("kept");
  }
  using again = openMemories({ path, clock: systemClock });
  expect(texts(again.of("a").search("kept", 10))).toEqual(["kept"]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a damaged row is skipped and said", () => {
  using dir = openTempDir();
  const path = join(dir.path, "memory.db");
  const said: string[] = [];
  using memories = openMemories({ path, clock: systemClock, log: collect(said) });
  memories.of("a").add("whole");
  memories.of("a").add("damaged");
  runSql(path, "UPDATE memories SET created_at = 'once' WHERE text = 'damaged'");
  expect(texts(memories.of("a").list(10))).toEqual(["whole"]);
  expect(said).toEqual(["a row of the database was skipped"]);
});

test("processes that start on nothing and add at once all find room", {
  timeout: 60_000,
}, async () => {
  using dir = openTempDir();
  const path = join(dir.path, "memory.db");
  const got = await contend(6, [path, "remember", "ours"]);
  expect(new Set(got.map(String)).size).toBe(6);
  using memories = openMemories({ path, clock: systemClock });
  expect(memories.of("ours").count()).toBe(6);
  expect(memories.of("ours").search("process", 10)).toHaveLength(6);
});
