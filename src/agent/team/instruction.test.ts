import { expect, test } from "vitest";
import { buildInstruction, type InstructionParts } from "./instruction.ts";
import { loadTeam } from "./load-team.ts";

const parts: InstructionParts = {
  agents: [],
  now: new Date(2026, 0, 5, 23, 59),
  environment: { work_dir: "/work", platform: "linux", is_git: true },
  prompt_files: [],
  toolset_instructions: [],
};

test("an agent that says nothing is told nothing", () => {
  expect(buildInstruction(agentOf("model: scripted/echo"), parts)).toBe("");
});

test("date and environment are told to who wants them", () => {
  const agent = agentOf("instruction: Work.\nadd_date: true\nadd_environment: true");
  expect(buildInstruction(agent, parts)).toBe(`Work.

Today is Monday, 2026-01-05.

<environment>
Working directory: /work
Is a git repository: yes
Operating system: linux
</environment>`);
});

test("files, toolsets and the team follow the agent's own words", () => {
  const text = buildInstruction(agentOf("instruction: Lead.\nsub_agents: [b]\nhandoffs: [c, b]"), {
    ...parts,
    agents: [
      { name: "b", description: "Codes.\n" },
      { name: "c", description: "" },
    ],
    prompt_files: [{ path: "/work/AGENTS.md", text: "Use tabs.\n" }],
    toolset_instructions: ["Mind the shell.", "  "],
  });
  expect(text).toBe(`Lead.

<file path="/work/AGENTS.md">
Use tabs.
</file>

Mind the shell.

You can give a task to one of these agents with the tool transfer_task. It knows nothing of this conversation, so say everything that it needs; its last message is what you get back.
- b: Codes.

When another agent fits better, hand the conversation to it with the tool handoff. It sees everything that was said and goes on in your place.
- c
- b: Codes.`);
});

function agentOf(lines: string) {
  const indented = lines.split("\n").map((line) => `    ${line}`);
  const yaml = [
    "agents:",
    "  root:",
    ...(lines.startsWith("model") ? [] : ["    model: scripted/echo"]),
    ...indented,
    "  b: {model: scripted/echo}",
    "  c: {model: scripted/echo}",
  ].join("\n");
  const [agent] = loadTeam({ yaml, name: "t", base_dir: "/" }).agents;
  if (agent === undefined) throw new Error("no agent");
  return agent;
}
