import { type DefinedTool, failed } from "#agent/define-tool.ts";
import type { ToolsetConfig } from "#agent/team/team.ts";
import type { Toolset, ToolsetState } from "#agent/toolset.ts";
import type { SkillCard } from "#contract/agent/views.ts";

type Named = Pick<ToolsetConfig, "name" | "tools" | "instruction">;

interface FixedParts {
  readonly kind: string;
  readonly tools: readonly DefinedTool[];
  readonly skills?: readonly SkillCard[];
}

/** Tools that are part of the program: they have nothing to start, and their list never changes. */
export function createFixedToolset(
  { name, tools: wanted, instruction }: Named,
  { kind, tools, skills = [] }: FixedParts,
): Toolset {
  const chosen = tools.filter(({ tool }) => wanted?.includes(tool.name) ?? true);
  const byName = new Map(chosen.map((defined) => [defined.tool.name, defined]));
  let state: ToolsetState = "stopped";
  const start = async () => {
    state = "ready";
  };
  return {
    name,
    kind,
    restartable: false,
    get state() {
      return state;
    },
    problem: undefined,
    instruction,
    start,
    restart: start,
    tools: () => chosen.map(({ tool }) => tool),
    call: async (call, context) =>
      (await byName.get(call.tool)?.call(call, context)) ??
      failed(`there is no tool ${call.tool} in ${name}; it has ${[...byName.keys()].join(", ")}`),
    onChanged: () => ({ [Symbol.dispose]: () => undefined }),
    prompts: async () => [],
    runPrompt: async () => undefined,
    skills: () => skills,
    [Symbol.asyncDispose]: async () => {
      state = "stopped";
    },
  };
}
