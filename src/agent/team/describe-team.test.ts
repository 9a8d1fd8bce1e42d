import { describe, expect, test } from "vitest";
import { TeamSummary } from "#contract/agent/views.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import {
  applyOverrides,
  describeTeam,
  keyNamesOf,
  modelOf,
  modelReferences,
} from "./describe-team.ts";
import { loadTeam } from "./load-team.ts";

const team = loadTeam({
  name: "team.yaml",
  base_dir: "/teams",
  yaml: `agents:
  lead:
    model: smart
    description: Leads.
    sub_agents: [coder]
    handoffs: [critic]
    commands: { plan: {description: Plans., instruction: Plan.}, go: Go. }
    fallback: { models: [openai/gpt-5, smart] }
    prompt_files: [AGENTS.md]
  coder: { model: google/gemini-2.5-pro, description: Codes. }
  critic: { model: local/llama, description: Judges. }
models:
  smart: { provider: anthropic, model: claude-sonnet-4-5 }
providers:
  local: { base_url: "http://127.0.0.1:8000/v1", token_key: LOCAL_KEY }
`,
});

test("an agent's model is the one chosen for it, for all, or its own, whatever it is called", () => {
  const agent = { name: "constructor", model: "own" };
  expect(modelOf(agent, {})).toBe("own");
  expect(modelOf(agent, { "*": "any", other: "no" })).toBe("any");
  expect(modelOf(agent, { "*": "any", constructor: "chosen" })).toBe("chosen");
});

describe("a summary", () => {
  test("names agents in order, with what others need to know of them", () => {
    const summary = describeTeam(team);
    expect(TeamSummary.parse(summary)).toEqual(summary);
    expect(summary).toEqual({
      team_id: expect.stringMatching(/^team_[0-9a-f]{32}$/),
      agent_names: ["lead", "coder", "critic"],
      default_agent: "lead",
      agents: [
        {
          name: "lead",
          description: "Leads.",
          model: "smart",
          commands: { plan: "Plans.", go: "" },
          sub_agents: ["coder"],
          handoffs: ["critic"],
        },
        {
          name: "coder",
          description: "Codes.",
          model: "google/gemini-2.5-pro",
          commands: {},
          sub_agents: [],
          handoffs: [],
        },
        {
          name: "critic",
          description: "Judges.",
          model: "local/llama",
          commands: {},
          sub_agents: [],
          handoffs: [],
        },
      ],
      warnings: [],
    });
  });

  test("shows the models that were chosen instead", () => {
    const { agents } = describeTeam(team, { "*": "scripted/echo", coder: "smart" });
    expect(agents.map((agent) => agent.model)).toEqual(["scripted/echo", "smart", "scripted/echo"]);
  });
});

test("the references are those of agents and fallbacks, each once", () => {
  expect(modelReferences(team)).toEqual([
    "smart",
    "openai/gpt-5",
    "google/gemini-2.5-pro",
    "local/llama",
  ]);
  expect(modelReferences(team, { "*": "smart" })).toEqual(["smart", "openai/gpt-5"]);
});

test("the key names are those of the models that a run uses", () => {
  expect(keyNamesOf(team)).toEqual(
    expect.arrayContaining(["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "LOCAL_KEY"]),
  );
  expect(keyNamesOf(team, { "*": "smart" })).toEqual(["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]);
});

describe("overrides", () => {
  test("change models and add prompt files, and leave the team as it was", () => {
    const changed = applyOverrides(team, {
      model_overrides: { coder: "openai/gpt-5" },
      prompt_files: ["EXTRA.md", "AGENTS.md"],
    });
    expect(changed.agents.map((agent) => agent.prompt_files)).toEqual([
      ["AGENTS.md", "EXTRA.md"],
      ["EXTRA.md", "AGENTS.md"],
      ["EXTRA.md", "AGENTS.md"],
    ]);
    expect(changed.agents[1]?.model).toBe("openai/gpt-5");
    expect(team.agents[1]?.model).toBe("google/gemini-2.5-pro");
    expect(team.agents[1]?.prompt_files).toEqual([]);
  });

  test.each([
    [{ codr: "smart" }, "there is no agent `codr`; did you mean `coder`?", "coder"],
    [{ zzzzz: "smart" }, "there is no agent `zzzzz`; known are lead, coder, critic", undefined],
    [
      { toString: "smart" },
      "there is no agent `toString`; known are lead, coder, critic",
      undefined,
    ],
    [{ coder: "smrt" }, "coder: there is no model `smrt`; did you mean `smart`?", "smart"],
    [{ "*": "opnai/x" }, "*: there is no provider `opnai`; did you mean `openai`?", "openai"],
  ])("%j are refused", (model_overrides, message, suggestion) => {
    const fault = refusalOf(() => applyOverrides(team, { model_overrides }));
    expect(fault).toMatchObject({
      code: "invalid_request",
      message: `model_overrides: ${message}`,
      details: defined({ suggestion }),
    });
  });

  test("of more prompt files than an agent may have are refused", () => {
    const prompt_files = Array.from({ length: limits.prompt_files }, (_, index) => `${index}.md`);
    expect(refusalOf(() => applyOverrides(team, { prompt_files })).message).toBe(
      "prompt_files: `lead` has 21 with its own; 20 are allowed",
    );
  });
});

function refusalOf(act: () => unknown): Fault {
  try {
    act();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("it was accepted");
}
