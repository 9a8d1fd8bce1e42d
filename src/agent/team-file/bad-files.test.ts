import { describe, expect, test } from "vitest";
import { loadTeam } from "#agent/team/load-team.ts";
import { Fault } from "#contract/fault.ts";

type Case = readonly [yaml: string, message: string];

const cases: Readonly<Record<string, readonly Case[]>> = {
  "text that is no plain YAML": [
    ["", "1:1: the file is empty; a team needs `agents`"],
    ["# nothing\n", "1:1: the file is empty; a team needs `agents`"],
    ["- a", "1:1: the file must be a map, not a list"],
    ["agents: {a: $" + "{b}}", "1:14: unexpected `{` at node end"],
    ["just text", "1:1: the file must be a map, not `just text`"],
    [
      "agents: {",
      "1:10: flow map in block collection must be sufficiently indented and end with a }",
    ],
    ["agents:\n\troot: x", "2:1: tabs are not allowed as indentation"],
    ["agents: a: b", "1:9: nested mappings are not allowed in compact mappings"],
    [one("description: 'open"), "4:23: missing closing 'quote"],
    [one("description: a", "description: b"), "5:5: the key `description` is there twice"],
    [
      "agents:\n  root:\n    model: scripted/echo\n  root:\n    model: scripted/echo",
      "4:3: the key `root` is there twice",
    ],
    [one("description: !secret x"), "4:26: tags (`!…`) are not supported"],
    [one("description: !!str 5"), "4:24: tags (`!…`) are not supported"],
    [one("description: *nope"), "4:18: the alias `*nope` names nothing that stands before it"],
    ["agents: &a\n  root: *a", "2:9: the alias `*a` names nothing that stands before it"],
    [one("<<: {description: x}"), "4:5: merge keys (`<<`) are not supported; write the keys out"],
    [one("? [a]", ": b"), "4:7: a key must be plain text"],
    [one("__proto__: {x: 1}"), "4:5: the key `__proto__` is not allowed"],
    [
      "agents:\n  root:\n    model: scripted/echo\n---\nagents: {}",
      "4:1: source contains multiple documents; one is read",
    ],
  ],
  "keys that nobody knows": [
    [one("instructon: hi"), "4:5: unknown key `instructon`; did you mean `instruction`?"],
    [one("subagents: [a]"), "4:5: unknown key `subagents`; did you mean `sub_agents`?"],
    [one("addDate: true"), "4:5: unknown key `addDate`; did you mean `add_date`?"],
    [
      one("zzzzzzzz: 1"),
      "4:5: unknown key `zzzzzzzz`; known are model, description, instruction, welcome_message, toolsets, sub_agents, handoffs, commands, max_iterations, structured_output, prompt_files, add_date, add_environment, num_history_items, fallback, hooks, skills",
    ],
    [top("agent: {}"), "4:1: unknown key `agent`; did you mean `agents`?"],
    [
      top("permission:", "  allow: []"),
      "4:1: unknown key `permission`; did you mean `permissions`?",
    ],
    [top("permissions:", "  alow: [read_file]"), "5:3: unknown key `alow`; did you mean `allow`?"],
    [top("limits:", "  max_costs: 1"), "5:3: unknown key `max_costs`; did you mean `max_cost`?"],
    [top("hooks:", "  pre_tool: []"), "5:3: unknown key `pre_tool`; did you mean `pre_tool_use`?"],
    [
      one("hooks:", "  stop:", "    - comand: x"),
      "6:11: unknown key `comand`; did you mean `command`?",
    ],
    [
      one("hooks:", "  stop:", "    - command: x", "      matcher: y"),
      "7:11: unknown key `matcher`; known are command, timeout",
    ],
    [
      one("fallback:", "  model: [scripted/echo]"),
      "5:7: unknown key `model`; did you mean `models`?",
    ],
    [
      one("structured_output:", "  name: x", "  shema: {}", "  schema: {}"),
      "6:7: unknown key `shema`; did you mean `schema`?",
    ],
    [
      one("commands:", "  fix:", "    instruction: x", "    desc: y"),
      "7:9: unknown key `desc`; did you mean `description`?",
    ],
    [
      top("models:", "  m:", "    provider: openai", "    model: x", "    temprature: 1"),
      "8:5: unknown key `temprature`; did you mean `temperature`?",
    ],
    [
      top("providers:", "  p:", "    base_url: http://h/v1", "    api: x"),
      "7:5: unknown key `api`; did you mean `api_type`?",
    ],
  ],
  "toolsets that are none": [
    [
      one("toolsets:", "  - type: shel"),
      "5:15: `type` must be one of `shell`, `terminal`, `filesystem`, `fetch`, `think`, `todo`, `memory`, `user_prompt`, `background_agents` or `mcp`, not `shel`; did you mean `shell`?",
    ],
    [
      one("toolsets:", "  - type: zzzzzz"),
      "5:15: `type` must be one of `shell`, `terminal`, `filesystem`, `fetch`, `think`, `todo`, `memory`, `user_prompt`, `background_agents` or `mcp`, not `zzzzzz`",
    ],
    [
      one("toolsets:", "  - shell"),
      "5:9: `toolsets[0]` must be a map, not `shell`; write `type: shell`",
    ],
    [one("toolsets:", "  - name: x"), "5:9: `type` is missing"],
    [one("toolsets: shell"), "4:15: `toolsets` must be a list, not `shell`"],
    [
      one("toolsets:", "  - type: think", "    timeout: 5s"),
      "6:9: `timeout` does not belong to type `think`, only to `shell` and `fetch`",
    ],
    [
      one("toolsets:", "  - type: shell", "    allow_paths: [/x]"),
      "6:9: `allow_paths` does not belong to type `shell`, only to `filesystem`",
    ],
    [
      one("toolsets:", "  - type: shell", "    commnd: x"),
      "6:9: unknown key `commnd`; known are type, name, tools, instruction, timeout",
    ],
    [
      one("toolsets:", "  - type: shell", "    timeout: soon"),
      '6:18: `timeout` must be a duration such as "30s", "5m", "1h30m", or a number of seconds',
    ],
    [
      one("toolsets:", "  - type: shell", "    timeout: -5"),
      '6:18: `timeout` must be a duration such as "30s", "5m", "1h30m", or a number of seconds',
    ],
    [
      one("toolsets:", "  - type: shell", "    timeout: 0"),
      '6:18: `timeout` must be a duration such as "30s", "5m", "1h30m", or a number of seconds',
    ],
    [
      one("toolsets:", "  - type: shell", "  - type: shell"),
      "6:15: there is a toolset `shell` already; give this one a `name` of its own",
    ],
    [
      one("toolsets:", "  - type: shell", "  - type: think", "    name: shell"),
      "7:15: there is a toolset `shell` already; give this one a `name` of its own",
    ],
    [
      one("toolsets:", "  - type: shell", "    name: a b"),
      "6:15: `name`: a name starts with a letter and has letters, digits, `_` and `-` only",
    ],
    [one("toolsets:", "  - type: mcp"), "5:9: an mcp toolset needs `command` or `url`"],
    [
      one("toolsets:", "  - type: mcp", "    command: x", "    url: https://x"),
      "7:9: give `command` or `url`, not both",
    ],
    [
      one("toolsets:", "  - type: mcp", "    url: https://x", "    args: [a]"),
      "7:9: `args` goes with `command`, not with `url`",
    ],
    [
      one("toolsets:", "  - type: mcp", "    command: x", "    headers: {a: b}"),
      "7:9: `headers` goes with `url`, not with `command`",
    ],
    [
      one("toolsets:", "  - type: mcp", "    url: ftp://x"),
      "6:14: `url` must be an address such as https://mcp.example.org/mcp",
    ],
    [
      one("toolsets:", "  - type: mcp", "    command: x", "    env: {A: [1]}"),
      "7:18: `A` must be text or a number or true or false, not a list",
    ],
    [
      one("toolsets:", "  - type: filesystem", "    read_only: perhaps"),
      "6:20: `read_only` must be true or false, not `perhaps`",
    ],
    [
      one("toolsets:", "  - type: think", "    tools: all"),
      "6:16: `tools` must be a list, not `all`",
    ],
  ],
  "values of the wrong kind": [
    ["agents:", "1:1: `agents` must be a map; there is nothing"],
    ["agents: {}", "1:1: `agents` is empty; a team has at least one"],
    ["agents: [root]", "1:9: `agents` must be a map, not a list"],
    ["agents:\n  root:", "2:3: `root` must be a map; there is nothing"],
    ["agents:\n  root: scripted/echo", "2:9: `root` must be a map, not `scripted/echo`"],
    ["agents:\n  root: {}", "2:3: `model` is missing"],
    ["agents:\n  root:\n    model: 3", "3:12: `model` must be text, not 3"],
    ["agents:\n  root:\n    model: ''", "3:12: `model` must not be empty"],
    [
      "agents:\n  my agent: {model: scripted/echo}",
      "2:3: `my agent`: a name starts with a letter and has letters, digits, `_` and `-` only",
    ],
    [
      "agents:\n  1: {model: scripted/echo}",
      "2:3: `1`: a name starts with a letter and has letters, digits, `_` and `-` only",
    ],
    [
      "agents:\n  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: {model: scripted/echo}",
      "2:3: `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`: a name has at most 64 characters",
    ],
    [one("instruction:", "  - a", "  - b"), "5:7: `instruction` must be text, not a list"],
    [one("instruction: 5"), "4:18: `instruction` must be text, not 5"],
    [one("add_date: sometimes"), "4:15: `add_date` must be true or false, not `sometimes`"],
    [one("max_iterations: -1"), "4:21: `max_iterations` must be at least 0"],
    [one("max_iterations: 1.5"), "4:21: `max_iterations` must be a whole number, not 1.5"],
    [one("max_iterations: many"), "4:21: `max_iterations` must be a number, not `many`"],
    [one("num_history_items: .nan"), "4:24: `num_history_items` must be a number, not NaN"],
    [one("sub_agents: b"), "4:17: `sub_agents` must be a list, not `b`"],
    [one("commands:", "  fix: 3"), "5:12: `fix` must be text or a map, not 3"],
    [
      one("commands:", "  a b: x"),
      "5:7: `a b`: a name starts with a letter and has letters, digits, `_` and `-` only",
    ],
    [one("commands:", "  fix: {description: x}"), "5:7: `instruction` is missing"],
    [one("skills: yes please"), "4:13: `skills` must be true or false or a list, not `yes please`"],
    [one("prompt_files: [1]"), "4:20: `prompt_files[0]` must be text, not 1"],
    [one("structured_output: {name: x}"), "4:5: `schema` is missing"],
    [one("structured_output: {name: x, schema: text}"), "4:42: `schema` must be a map, not `text`"],
    [one("fallback: {models: [scripted/echo], retries: -1}"), "4:50: `retries` must be at least 0"],
    [
      one("fallback: {models: [scripted/echo], cooldown: later}"),
      '4:51: `cooldown` must be a duration such as "30s", "5m", "1h30m", or a number of seconds',
    ],
    [
      top("safety: strickt"),
      "4:9: `safety` must be one of `strict`, `balanced`, `restricted` or `autonomous`, not `strickt`; did you mean `strict`?",
    ],
    [
      top("safety: 3"),
      "4:9: `safety` must be one of `strict`, `balanced`, `restricted` or `autonomous`, not 3",
    ],
    [top("limits: {max_cost: much}"), "4:20: `max_cost` must be a number, not `much`"],
    [top("limits: {max_cost: -1}"), "4:20: `max_cost` must be more than 0"],
    [top("limits: {max_tokens: 1.5}"), "4:22: `max_tokens` must be a whole number, not 1.5"],
    [top("limits: {max_tokens: 0}"), "4:22: `max_tokens` must be more than 0"],
    [
      top("limits: {max_time: soon}"),
      '4:20: `max_time` must be a duration such as "30s", "5m", "1h30m", or a number of seconds',
    ],
    [top("limits: 5"), "4:9: `limits` must be a map, not 5"],
    [top("permissions: {allow: read_file}"), "4:22: `allow` must be a list, not `read_file`"],
    [top("permissions: {deny: ['']}"), "4:22: `deny[0]` must not be empty"],
    [top("metadata: text"), "4:11: `metadata` must be a map, not `text`"],
    [top("version: 2"), "4:10: the file is of version 2; this Reins reads version 1"],
    [top("version: '1.5'"), "4:10: the file is of version 1.5; this Reins reads version 1"],
    [top("version: zero"), "4:10: `version` must be 1"],
    [top("version: 0"), "4:10: `version` must be 1"],
    [top("version: [1]"), "4:10: `version` must be text or a number, not a list"],
    [top("hooks: {stop: [make]}"), "4:16: `stop[0]` must be a map, not `make`"],
    [top("hooks: {stop: [{timeout: 5}]}"), "4:16: `command` is missing"],
  ],
  "names that lead nowhere": [
    [
      "agents:\n  root:\n    model: fasst\nmodels:\n  fast: {provider: scripted, model: echo}",
      "3:12: there is no model `fasst`; did you mean `fast`?",
    ],
    [
      "agents:\n  root:\n    model: nowhere",
      "3:12: there is no model `nowhere`; write a name of `models`, or `provider/model`",
    ],
    [
      "agents:\n  root:\n    model: opnai/gpt-5",
      "3:12: there is no provider `opnai`; did you mean `openai`?",
    ],
    [
      "agents:\n  root:\n    model: zzzzzz/x",
      "3:12: there is no provider `zzzzzz`; known are openai, anthropic, google, ollama, scripted",
    ],
    [
      "agents:\n  root:\n    model: openai/",
      "3:12: `openai/` does not say which model of the provider",
    ],
    [
      one("fallback:", "  models: [scripted/echo, nope]"),
      "5:31: there is no model `nope`; write a name of `models`, or `provider/model`",
    ],
    [
      top("models:", "  m: {provider: opnai, model: x}"),
      "5:17: there is no provider `opnai`; did you mean `openai`?",
    ],
    [two(["sub_agents: [c]"], []), "4:18: there is no agent `c`; known are a, b"],
    [two(["sub_agents: [bb, b]"], []), "4:18: there is no agent `bb`; did you mean `b`?"],
    [two(["sub_agents: [a]"], []), "4:18: `a` cannot be its own sub-agent"],
    [two(["sub_agents: [b, b]"], []), "4:21: `b` is named twice in `sub_agents`"],
    [two(["handoffs: [a]"], []), "4:16: `a` cannot hand over to itself"],
    [two(["handoffs: [nobody]"], []), "4:16: there is no agent `nobody`; known are a, b"],
    [
      two(["sub_agents: [b]"], ["sub_agents: [a]"]),
      "7:18: sub-agents go in a circle: `a` → `b` → `a`",
    ],
    [
      two(
        ["sub_agents: [b]"],
        ["sub_agents: [c]"],
        "  c:",
        "    model: scripted/echo",
        "    sub_agents:",
        "      - a",
      ),
      "11:9: sub-agents go in a circle: `a` → `b` → `c` → `a`",
    ],
    [one("sub_agents: [toString]"), "4:18: there is no agent `toString`; known are root"],
  ],
  "texts that do not parse": [
    [
      top("hooks:", "  pre_tool_use:", "    - matcher: '('", "      command: x"),
      "6:16: `matcher` is no regular expression: Unterminated group",
    ],
    [
      one("hooks:", "  post_tool_use:", "    - command: x", "      matcher: 'a)(b'"),
      "7:20: `matcher` is no regular expression: Unmatched ')'",
    ],
  ],
};

/** The sentences are others'; the place is ours. */
const placed: readonly Case[] = [
  ["agents:\n  root:\n    model: scripted/hello", "3:12: there is no model scripted/hello"],
  [
    top("models: {m: {provider: p, model: x}}", "providers: {p: {}}"),
    "4:24: the provider p has no base_url",
  ],
  [top("permissions:", "  deny:", "    - 'execute:command=\"x'"), "6:7: the permission pattern"],
  [top("permissions:", "  allow: [read_file, 'a b']"), "5:22: the permission pattern"],
  [top("models: {m: {provider: openai}}"), "4:10: `model` is missing"],
  [top("models: {m: {provider: scripted}}"), "4:10: `script` is missing"],
  [top("models: {m: {model: x}}"), "4:10: `provider` is missing"],
  [
    top("models: {m: {provider: openai, model: x, temperature: hot}}"),
    "4:55: `temperature` must be a number, not `hot`",
  ],
  [
    top("models: {m: {provider: openai, model: x, thinking_budget: hihg}}"),
    "4:59: `thinking_budget` must be one of `none`, `low`, `medium` or `high`, not `hihg`; did you mean `high`?",
  ],
  [
    top("models: {m: {provider: openai, model: x, token_key: sk-abc123def456ghi789jkl012}}"),
    "4:53: `token_key`: this looks like a key",
  ],
  [
    top("models:", "  m:", "    provider: scripted", "    script:", "      - txt: hi"),
    "8:9: unknown key `txt`; did you mean `text`?",
  ],
  [
    top(
      "models:",
      "  m:",
      "    provider: scripted",
      "    script:",
      "      - text: hi",
      "        expect: {last_user_contain: x}",
    ),
    "9:18: unknown key `last_user_contain`; did you mean `last_user_contains`?",
  ],
  [
    top("models: {a/b: {provider: openai, model: x}}"),
    "4:10: `a/b`: a name starts with a letter and has letters, digits, `.`, `_` and `-` only",
  ],
  [
    top("providers: {p: {api_type: openai_chat, base_url: 'http://h'}}"),
    "4:27: `api_type` must be one of `openai_chatcompletions`, `openai_responses`, `anthropic` or `google`, not `openai_chat`; did you mean `openai_chatcompletions`?",
  ],
];

describe.each(Object.entries(cases))("%s", (_, rows) => {
  test.each(rows)("%j is refused", (yaml, message) => {
    expect(refusalOf(yaml).message).toBe(`team.yaml:${message}`);
  });
});

describe("what models and permissions refuse", () => {
  test.each(placed)("%j is told with its place", (yaml, message) => {
    expect(refusalOf(yaml).message.startsWith(`team.yaml:${message}`)).toBe(true);
  });

  test("never repeats a key", () => {
    const fault = refusalOf(
      top("models: {m: {provider: openai, model: x, token_key: sk-abc123def456ghi789jkl012}}"),
    );
    expect(JSON.stringify([fault.message, fault.details])).not.toContain("abc123");
  });
});

function refusalOf(yaml: string): Fault {
  try {
    loadTeam({ yaml, name: "team.yaml", base_dir: "/teams" });
  } catch (error) {
    if (error instanceof Fault && error.code === "team_invalid") return error;
    throw error;
  }
  throw new Error("it was loaded");
}

/** A team of one agent with these lines in it. */
function one(...lines: readonly string[]): string {
  return ["agents:", "  root:", "    model: scripted/echo", ...indent(lines)].join("\n");
}

/** The same, with these lines behind it. */
function top(...lines: readonly string[]): string {
  return [one(), ...lines].join("\n");
}

function two(a: readonly string[], b: readonly string[], ...more: readonly string[]): string {
  const model = "    model: scripted/echo";
  return ["agents:", "  a:", model, ...indent(a), "  b:", model, ...indent(b), ...more].join("\n");
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `    ${line}`);
}
