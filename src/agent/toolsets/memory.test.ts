import { expect, test } from "vitest";
import { openTestMemories } from "#test/harness/memories.ts";
import { callerOf } from "#test/harness/tool-context.ts";
import { createMemoryToolset } from "./memory.ts";

const config = {
  type: "memory",
  name: "memory",
  tools: undefined,
  instruction: undefined,
} as const;

test("facts are added, found, listed and forgotten", async () => {
  using memories = openTestMemories();
  const call = callerOf(createMemoryToolset(config, { memory: memories.of("team") }));
  expect((await call("memory_list")).output).toBe("there are no memories yet");
  const added = await call("memory_add", { text: "Ann likes tea" });
  const memory_id = /^remembered as (mem_\w{16})$/.exec(added.output)?.[1];
  await call("memory_add", { text: "the port is 8080" });
  expect(await call("memory_search", { query: "tea" })).toEqual({
    output: `${memory_id} (2026-01-01): Ann likes tea`,
  });
  expect((await call("memory_search", { query: "coffee" })).output).toBe(
    "nothing of 2 memories matches; try other words, or memory_list",
  );
  expect((await call("memory_list", { limit: 1 })).output).toMatch(
    /the port is 8080\n\[and 1 older ones; memory_search finds them\]$/,
  );
  expect(await call("memory_delete", { memory_id })).toEqual({ output: `forgot ${memory_id}` });
  expect(await call("memory_delete", { memory_id })).toMatchObject({ is_error: true });
  expect((await call("memory_list")).output).not.toContain("tea");
});

test.each([
  ["memory_add", { text: " " }, /^invalid_request: text: the text is empty/],
  ["memory_add", {}, /^invalid_request: text: /],
  ["memory_search", { query: "" }, /^invalid_request: query: /],
  ["memory_list", { limit: 51 }, /^invalid_request: limit: /],
])("%s of %j says what is wrong", async (tool, input, text) => {
  using memories = openTestMemories();
  const call = callerOf(createMemoryToolset(config, { memory: memories.of("team") }));
  expect(await call(tool, input)).toMatchObject({
    is_error: true,
    output: expect.stringMatching(text),
  });
});
