import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { loadTeam } from "./load-team.ts";
import type { Team } from "./team.ts";

const FULL = `version: "1"
agents:
  helper:
    model: fast
    description: Helps.
  root:
    model: openai/gpt-5
    description: Leads.
    instruction: Work well.
    welcome_message: Hello.
    toolsets:
      - type: shell
        timeout: 30s
        tools: [execute]
        instruction: Be careful.
      - type: terminal
      - type: filesystem
        allow_paths: [shared, /srv, ~/notes]
        read_only: true
      - type: fetch
        allow_hosts: ["*.example.org"]
        timeout: 5
      - type: mcp
        name: git
        command: git-mcp
        args: [--stdio]
        env: { PORT: 80, DEBUG: true }
        work_dir: tools
      - type: mcp
        name: web
        url: https://mcp.example.org/mcp
        headers: { X-Team: reins }
    sub_agents: [helper]
    handoffs: [helper]
    commands:
      fix: Fix \${args}.
      plan: { description: Plans., instruction: Plan it. }
    max_iterations: 20
    structured_output:
      name: answer
      schema: { type: object, properties: { ok: { type: boolean } } }
    prompt_files: [AGENTS.md]
    add_date: true
    add_environment: true
    num_history_items: 50
    fallback: { models: [fast], retries: 1, cooldown: 2m }
    hooks:
      stop:
        - command: make check
    skills: [skills]
models:
  fast: { provider: scripted, model: echo }
providers:
  local: { base_url: "http://127.0.0.1:8000/v1" }
permissions:
  allow: [read_file]
  deny: ["execute:command=rm *"]
safety: strict
hooks:
  pre_tool_use:
    - matcher: "execute|write_.*"
      command: ./check
      timeout: 10s
    - matcher: "*"
      command: ./log
limits: { max_cost: 1.5, max_tokens: 1000, max_time: 30m }
metadata: { author: somebody, anything: [1, { deep: true }] }
`;

describe("a whole file", () => {
  test("becomes a team in which everything is filled in", () => {
    const team = load(FULL);
    expect(team.agents.map((agent) => agent.name)).toEqual(["helper", "root"]);
    expect(team).toMatchObject({
      name: "team.yaml",
      default_agent: "root",
      models: { fast: { provider: "scripted", model: "echo" } },
      providers: { local: { base_url: "http://127.0.0.1:8000/v1" } },
      permissions: { allow: ["read_file"], deny: ["execute:command=rm *"] },
      safety: "strict",
      limits: { max_cost: 1.5, max_tokens: 1000, max_time_ms: 1_800_000 },
      warnings: [],
    });
    expect(team.hooks).toEqual({
      pre_tool_use: [
        { command: "./check", matcher: /^(?:execute|write_.*)$/, timeout_ms: 10_000 },
        { command: "./log", matcher: undefined, timeout_ms: limits.hook_ms },
      ],
    });
  });

  test("gives each agent what it says", () => {
    const { toolsets, ...root } = agentOf(load(FULL), "root");
    expect(root).toEqual({
      name: "root",
      model: "openai/gpt-5",
      description: "Leads.",
      instruction: "Work well.",
      welcome_message: "Hello.",
      sub_agents: ["helper"],
      handoffs: ["helper"],
      commands: {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the file
        fix: { description: "", instruction: "Fix ${args}." },
        plan: { description: "Plans.", instruction: "Plan it." },
      },
      max_iterations: 20,
      structured_output: {
        name: "answer",
        description: undefined,
        schema: { type: "object", properties: { ok: { type: "boolean" } } },
        strict: false,
      },
      prompt_files: ["AGENTS.md"],
      add_date: true,
      add_environment: true,
      num_history_items: 50,
      fallback: { models: ["fast"], retries: 1, cooldown_ms: 120_000 },
      hooks: { stop: [{ command: "make check", matcher: undefined, timeout_ms: limits.hook_ms }] },
      skills: ["/teams/skills"],
    });
    expect(toolsets.map((toolset) => toolset.name)).toEqual([
      "shell",
      "terminal",
      "filesystem",
      "fetch",
      "git",
      "web",
    ]);
  });

  test("gives toolsets their settings, with paths that start at the file", () => {
    const none = { tools: undefined, instruction: undefined };
    expect(agentOf(load(FULL), "root").toolsets).toEqual([
      {
        name: "shell",
        type: "shell",
        tools: ["execute"],
        instruction: "Be careful.",
        timeout_ms: 30_000,
      },
      { ...none, name: "terminal", type: "terminal" },
      {
        ...none,
        name: "filesystem",
        type: "filesystem",
        allow_paths: ["/teams/shared", "/srv", "~/notes"],
        read_only: true,
      },
      {
        ...none,
        name: "fetch",
        type: "fetch",
        allow_private: false,
        allow_hosts: ["*.example.org"],
        timeout_ms: 5000,
      },
      {
        ...none,
        name: "git",
        type: "mcp",
        server: {
          kind: "stdio",
          command: "git-mcp",
          args: ["--stdio"],
          env: { PORT: "80", DEBUG: "true" },
          work_dir: "/teams/tools",
        },
      },
      {
        ...none,
        name: "web",
        type: "mcp",
        server: {
          kind: "http",
          url: "https://mcp.example.org/mcp",
          headers: { "X-Team": "reins" },
        },
      },
    ]);
  });

  test("written anew by another tool is the same team", () => {
    const again = stringify(parse(FULL), { defaultKeyType: "QUOTE_DOUBLE", lineWidth: 40 });
    expect({ ...load(again), team_id: "" }).toEqual({ ...load(FULL), team_id: "" });
  });
});

describe("a small file", () => {
  test("has the defaults", () => {
    const team = load("agents: {solo: {model: scripted/echo}}");
    expect(team).toMatchObject({
      default_agent: "solo",
      models: {},
      providers: {},
      permissions: {},
      safety: undefined,
      hooks: {},
      limits: {},
      warnings: [],
    });
    expect(team.agents[0]).toMatchObject({
      description: "",
      instruction: "",
      toolsets: [],
      max_iterations: 0,
      num_history_items: 0,
      fallback: { models: [], retries: undefined, cooldown_ms: undefined },
      skills: false,
    });
  });

  test("starts with its first agent when none is called root", () => {
    const yaml = "agents: {z: {model: scripted/echo}, a: {model: scripted/echo}}";
    expect(load(yaml).default_agent).toBe("z");
  });

  test("has an id that is its text's", () => {
    const yaml = "agents: {solo: {model: scripted/echo}}";
    expect(load(yaml).team_id).toBe("team_97dd6e7d732e020f6a601a8e7d024e7f");
    expect(load(`${yaml}\n`).team_id).not.toBe(load(yaml).team_id);
  });

  test("may use an alias for what it says twice", () => {
    const yaml = `agents:
  root: &same {model: scripted/echo, toolsets: [{type: think}]}
  other: *same`;
    const { name, ...other } = agentOf(load(yaml), "other");
    expect(name).toBe("other");
    expect(agentOf(load(yaml), "root")).toEqual({ ...other, name: "root" });
  });

  test.each(['"1"', "1", "'1'"])("may be of version %s", (version) => {
    expect(load(`version: ${version}\nagents: {a: {model: scripted/echo}}`).agents).toHaveLength(1);
  });
});

test("what is likely a mistake is a warning", () => {
  const team = load(`agents:
  root: {model: scripted/echo, sub_agents: [b], toolsets: [{type: think, tools: []}]}
  b: {model: scripted/echo}
models: {idle: {provider: scripted, model: echo}}
permissions: {allow: [a, b], ask: [c], deny: [b, c]}`);
  expect(team.warnings).toEqual([
    "models.idle: no agent uses this model",
    "agents.b: others choose it by a description it has not",
    "agents.root.toolsets[0]: `tools` is empty, so it has none",
    "permissions: `b` is denied too, and deny wins",
    "permissions: `c` is denied too, and deny wins",
  ]);
});

describe("a refusal", () => {
  test("lists every problem in the order of the file, with its place", () => {
    const yaml = `agents:
  root:
    model: fasst
    instructon: hi
    sub_agents: [nobody]
models:
  fast: {provider: scripted, model: echo}
`;
    expect(refusalOf(yaml).details).toEqual({
      file: "team.yaml",
      line: 3,
      column: 12,
      path: "agents.root.model",
      suggestion: "fast",
      problems: [
        {
          line: 3,
          column: 12,
          path: "agents.root.model",
          message: "there is no model `fasst`; did you mean `fast`?",
          suggestion: "fast",
        },
        {
          line: 4,
          column: 5,
          path: "agents.root.instructon",
          message: "unknown key `instructon`; did you mean `instruction`?",
          suggestion: "instruction",
        },
        {
          line: 5,
          column: 18,
          path: "agents.root.sub_agents[0]",
          message: "there is no agent `nobody`; known are root",
        },
      ],
    });
  });

  test("lists twenty problems at most", () => {
    const lines = Array.from({ length: 50 }, (_, index) => `wrong_${index}: 1`);
    const yaml = ["agents: {a: {model: scripted/echo}}", ...lines].join("\n");
    expect(refusalOf(yaml).details.problems).toHaveLength(20);
  });

  test("points into what an alias stands for", () => {
    const yaml = `agents:
  root:
    model: scripted/echo
    toolsets: &tools
      - {type: shell, timeout: soon}
  b: {model: scripted/echo, toolsets: *tools}`;
    const problems = refusalOf(yaml).details.problems;
    expect(problems).toMatchObject([
      { line: 5, column: 32, path: "agents.root.toolsets[0].timeout" },
      { line: 5, column: 32, path: "agents.b.toolsets[0].timeout" },
    ]);
  });
});

describe("a hostile file", () => {
  test("that is too long is refused", () => {
    const yaml = `# ${"x".repeat(limits.team_chars)}`;
    expect(refusalOf(yaml).message).toBe(
      "team.yaml:1:1: the file has 262146 characters; 262144 are allowed",
    );
  });

  test("whose aliases stand for a huge one is refused", () => {
    const level = (index: number) =>
      `  l${index}: [${`*l${index - 1},`.repeat(9)}]`.replace(":", `: &l${index}`);
    const levels = Array.from({ length: 5 }, (_, index) => level(index + 1));
    const yaml = ["metadata:", "  l0: &l0 [x,x,x,x,x,x,x,x,x]", ...levels].join("\n");
    expect(refusalOf(yaml).message).toMatch(/the file has more than 20000 values or 64 levels$/);
  });

  test.each(["[", "{a: ", "- ", "a: ", "? "])("that nests %j without end is refused", (step) => {
    const depth = Math.floor(limits.team_chars / step.length);
    expect(refusalOf(step.repeat(depth)).code).toBe("team_invalid");
  });

  test("may have 64 levels, and no more", () => {
    const nested = (levels: number) =>
      `agents: {a: {model: scripted/echo}}\nmetadata: {x: ${"[".repeat(levels)}${"]".repeat(levels)}}`;
    expect(load(nested(63)).agents).toHaveLength(1);
    expect(refusalOf(nested(64)).message).toMatch(/more than 20000 values or 64 levels$/);
  });

  test("of very many signs is refused before it is parsed", () => {
    expect(refusalOf("[]\n".repeat(80_000)).message).toBe(
      "team.yaml:1:1: the file has more than 20000 values or 64 levels",
    );
  });

  test("with very many keys is refused without comparing each to each", () => {
    const keys = Array.from({ length: 30_000 }, (_, index) => `k${index}:`);
    expect(refusalOf(keys.join("\n")).message).toMatch(/more than 20000 values/);
  });
});

const PIECES = [
  ...["agents", "root", "model", "toolsets", "type: shell", "sub_agents", "hooks", "- ", "[", "]"],
  ...["{", "}", ": ", "*a", "&a ", "!x ", "<<: ", "? ", "|", ">", '"', "'", "#", "\t", "\n", "  "],
  ...["null", "true", "-1", "1e999", ".nan", ".inf", "0x10", "__proto__", "constructor", "~", "%"],
  ...["---\n", "...\n", "\u0000", "\ud800", "\u2028", "\r", "\ufeff", "@", "`", "2020-01-01"],
];

describe("whatever is done to a file", () => {
  test("it is a team, or a Fault that says where it is none", () => {
    const lines = FULL.split("\n");
    const edit = fc.record({
      kind: fc.constantFrom("delete", "insert", "replace", "double", "cut", "swap"),
      at: fc.nat(FULL.length),
      line: fc.nat(lines.length - 1),
      piece: fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 8 })),
    });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), (edits) => {
        expectTeamOrRefusal(edits.reduce((text, one) => mutate(text, one), FULL));
      }),
      { numRuns: 400 },
    );
  });

  test("with any values at its places as well", () => {
    const keys = fc.constantFrom(
      ...["agents", "root", "model", "models", "toolsets", "type", "hooks", "stop", "command"],
      ...["permissions", "deny", "limits", "sub_agents", "fallback", "providers", "script", "a"],
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom<unknown>(null, true, -1, 0.5, "", "shell", "scripted/echo", "root", "*"),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(keys, tie("value"), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(keys, value, { maxKeys: 6 }), (file) => {
        expectTeamOrRefusal(stringify(file));
      }),
      { numRuns: 400 },
    );
  });
});

interface Edit {
  readonly kind: string;
  readonly at: number;
  readonly line: number;
  readonly piece: string;
}

function mutate(text: string, { kind, at, line, piece }: Edit): string {
  const lines = text.split("\n");
  const held = lines[line % lines.length] ?? "";
  if (kind === "insert") return text.slice(0, at) + piece + text.slice(at);
  if (kind === "replace") return text.slice(0, at) + piece + text.slice(at + piece.length);
  if (kind === "cut") return text.slice(0, at);
  if (kind === "delete") return lines.toSpliced(line, 1).join("\n");
  if (kind === "double") return lines.toSpliced(line, 0, held).join("\n");
  return lines
    .toSpliced(line, 1)
    .toSpliced(at % lines.length, 0, held)
    .join("\n");
}

function expectTeamOrRefusal(yaml: string): void {
  try {
    expect(load(yaml).agents.length).toBeGreaterThan(0);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    expect(error.code).toBe("team_invalid");
    expect(error.message).toMatch(/^team\.yaml:[1-9]\d*:[1-9]\d*: ./);
  }
}

function load(yaml: string): Team {
  return loadTeam({ yaml, name: "team.yaml", base_dir: "/teams" });
}

function agentOf(team: Team, name: string) {
  const agent = team.agents.find((held) => held.name === name);
  if (agent === undefined) throw new Error(`no agent ${name}`);
  return agent;
}

function refusalOf(yaml: string): Fault {
  try {
    load(yaml);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("it was loaded");
}
