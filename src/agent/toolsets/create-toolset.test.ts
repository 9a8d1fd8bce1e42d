import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ToolsetConfig } from "#agent/team/team.ts";
import type { AgentTool } from "#agent/toolset.ts";
import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import type { MemoryStore } from "#contract/agent/memory.ts";
import type { Tools } from "#contract/tools/tools.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { createToolset } from "./create-toolset.ts";

type Settings = ToolsetConfig extends infer C
  ? C extends ToolsetConfig
    ? Omit<C, "name" | "tools" | "instruction">
    : never
  : never;

const settings: readonly Settings[] = [
  { type: "shell", timeout_ms: undefined },
  { type: "terminal" },
  { type: "filesystem", allow_paths: [], read_only: false },
  { type: "fetch", allow_private: false, allow_hosts: undefined, timeout_ms: undefined },
  { type: "think" },
  { type: "todo" },
  { type: "memory" },
  { type: "user_prompt" },
];

function open(setting: Settings) {
  return createToolset(
    { name: `my ${setting.type}`, tools: undefined, instruction: "Be kind.", ...setting },
    {
      work_dir: "/",
      env: {},
      home: "/",
      clock: new ManualClock(),
      log: silentLogger,
      version: "1",
      // Nothing is called here.
      tools: {} as Tools,
      hasTool: () => false,
      memory: {} as MemoryStore,
      restored: undefined,
    },
  );
}

const everyTool = settings.flatMap((setting) =>
  open(setting)
    .tools()
    .map((tool) => [setting.type, tool] as const),
);

test("each toolset has its name, its kind and its instruction", () => {
  for (const setting of settings)
    expect(open(setting)).toMatchObject({
      name: `my ${setting.type}`,
      kind: setting.type,
      instruction: "Be kind.",
    });
});

test("the names of the tools, and what they may do", () => {
  const say = ({ name, hints, polling }: AgentTool) =>
    [
      name,
      ...(hints.read_only ? ["reads"] : []),
      ...(hints.destructive ? ["destroys"] : []),
      ...(polling === true ? ["polls"] : []),
    ].join(" ");
  expect(everyTool.map(([type, tool]) => `${type}: ${say(tool)}`)).toEqual([
    "shell: execute destroys",
    "shell: process_output reads polls",
    "shell: process_wait reads polls",
    "shell: process_list reads polls",
    "shell: process_signal destroys",
    "shell: process_input destroys",
    "terminal: terminal_open destroys",
    "terminal: terminal_type destroys",
    "terminal: terminal_screen reads polls",
    "terminal: terminal_wait reads polls",
    "terminal: terminal_close destroys",
    "filesystem: read_file reads",
    "filesystem: list_directory reads",
    "filesystem: glob reads",
    "filesystem: search_files reads",
    "filesystem: write_file destroys",
    "filesystem: edit_file destroys",
    "fetch: fetch reads",
    "think: think reads",
    "todo: todo_write reads",
    "todo: todo_read reads",
    "memory: memory_add",
    "memory: memory_search reads",
    "memory: memory_list reads",
    "memory: memory_delete destroys",
    "user_prompt: user_prompt reads",
  ]);
});

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly items?: Described;
}

/** Arguments, and those of the things in a list; what a schema as an argument has is JSON Schema's own. */
function findUnsaid(schema: Described, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    ...((field.description ?? "").length >= 10 ? [] : [`${path}.${name}`]),
    ...findUnsaid(field.items ?? {}, `${path}.${name}`),
  ]);
}

test.each(everyTool)("in %s, $name and each of its arguments are explained", (_type, tool) => {
  expect(tool.description).toMatch(/^[A-Z][\s\S]{30,}\.$/);
  expect(tool.input_schema).toMatchObject({ type: "object", additionalProperties: false });
  expect(tool.input_schema).not.toHaveProperty("$schema");
  // A JSON Schema that was made of ours.
  expect(findUnsaid(tool.input_schema as Described, tool.name)).toEqual([]);
});

test("no two tools of an agent have the same name", () => {
  const names = everyTool.map(([, { name }]) => name);
  expect(new Set(names).size).toBe(names.length);
});

test("what is made elsewhere is not made here", () => {
  expect(() => open({ type: "background_agents" })).toThrow("background agents");
});

test("a toolset works in the directory that it was given", async () => {
  using dir = openTempDir();
  const toolset = createToolset(
    {
      type: "filesystem",
      name: "filesystem",
      tools: ["write_file"],
      instruction: undefined,
      allow_paths: [],
      read_only: false,
    },
    {
      work_dir: dir.path,
      env: {},
      home: "/",
      clock: new ManualClock(),
      log: silentLogger,
      version: "1",
      tools: {} as Tools, // Of no use to it.
      hasTool: () => false,
      memory: {} as MemoryStore, // Of no use to it.
      restored: undefined,
    },
  );
  const input = { path: "f", content: "x" };
  const context = {
    signal: new AbortController().signal,
    report: () => undefined,
    elicit: () => Promise.reject(new Error("nobody asks")),
  };
  await toolset.call({ call_id: "1", tool: "write_file", input }, context);
  expect(readFileSync(`${dir.path}/f`, "utf8")).toBe("x");
});

test("the page lists every tool, with the first sentence that models are told", () => {
  const page = readFileSync(new URL("../../../docs/toolsets.md", import.meta.url), "utf8");
  const rows = everyTool.map(
    ([, { name, description }]) => `| \`${name}\` | ${description.split(/(?<=\.) /)[0]} |`,
  );
  expect(page.split("\n").filter((line) => /^\| `\w+` \|/.test(line))).toEqual(rows);
});
