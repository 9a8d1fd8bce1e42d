import type { PromptFile } from "./prompt-files.ts";
import type { AgentDefinition } from "./team.ts";

export interface InstructionParts {
  /** The whole team, for who may be given tasks. */
  readonly agents: readonly Pick<AgentDefinition, "name" | "description">[];
  readonly now: Date;
  readonly environment: {
    readonly work_dir: string;
    readonly platform: string;
    readonly is_git: boolean;
  };
  readonly prompt_files: readonly PromptFile[];
  /** Of the agent's toolsets, in their order. */
  readonly toolset_instructions: readonly string[];
}

/** The system text of an agent, most general first. */
export function buildInstruction(agent: AgentDefinition, parts: InstructionParts): string {
  const sections = [
    agent.instruction,
    agent.add_date ? `Today is ${writeDate(parts.now)}.` : "",
    agent.add_environment ? writeEnvironment(parts.environment) : "",
    ...parts.prompt_files.map((file) => writeFile(file)),
    ...parts.toolset_instructions,
    writeTeam(agent, parts.agents),
  ];
  return sections
    .map((section) => section.trim())
    .filter((section) => section !== "")
    .join("\n\n");
}

/** The day of where the agent runs, not of Greenwich. */
function writeDate(now: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const day = now.toLocaleDateString("en-US", { weekday: "long" });
  return `${day}, ${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

function writeEnvironment({ work_dir, platform, is_git }: InstructionParts["environment"]): string {
  return [
    "<environment>",
    `Working directory: ${work_dir}`,
    `Is a git repository: ${is_git ? "yes" : "no"}`,
    `Operating system: ${platform}`,
    "</environment>",
  ].join("\n");
}

function writeFile({ path, text }: PromptFile): string {
  return `<file path=${JSON.stringify(path)}>\n${text.trim()}\n</file>`;
}

function writeTeam(agent: AgentDefinition, agents: InstructionParts["agents"]): string {
  const list = (names: readonly string[]) =>
    names.map((name) => {
      const description = agents.find((other) => other.name === name)?.description.trim() ?? "";
      return description === "" ? `- ${name}` : `- ${name}: ${description}`;
    });
  const tasks = [
    "You can give a task to one of these agents with the tool transfer_task. It knows nothing of this conversation, so say everything that it needs; its last message is what you get back.",
    ...list(agent.sub_agents),
  ];
  const handoffs = [
    "When another agent fits better, hand the conversation to it with the tool handoff. It sees everything that was said and goes on in your place.",
    ...list(agent.handoffs),
  ];
  return [agent.sub_agents.length > 0 ? tasks : [], agent.handoffs.length > 0 ? handoffs : []]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}
