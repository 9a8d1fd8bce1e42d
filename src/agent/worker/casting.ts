import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentPorts } from "#agent/ports.ts";
import type { AgentState } from "#agent/state/agent-state.ts";
import { modelOf } from "#agent/team/describe-team.ts";
import { buildInstruction } from "#agent/team/instruction.ts";
import { type PromptFile, readPromptFiles } from "#agent/team/prompt-files.ts";
import type { AgentDefinition, Team, ToolsetType } from "#agent/team/team.ts";
import { Toolbox, type ToolboxEntry } from "#agent/toolbox.ts";
import { createToolset, type ToolsetDeps } from "#agent/toolsets/create-toolset.ts";
import { createSkillsToolset } from "#agent/toolsets/read-skill.ts";
import type { TurnHooks } from "#agent/turn/hooks.ts";
import type { Cast, Emit } from "#agent/turn/stage.ts";
import type { AgentSpec, ModelOverrides } from "#contract/agent/spec.ts";
import { Fault } from "#contract/fault.ts";
import type { Model, Models } from "#model/model.ts";

interface CastingDeps {
  readonly ports: AgentPorts;
  readonly team: Team;
  readonly spec: AgentSpec;
  readonly fold: AgentState;
  readonly models: Models;
  readonly emit: Emit;
  readonly hooksOf: (definition: AgentDefinition) => TurnHooks;
}

/** Which tools' results have the state of a toolset. */
const STATEFUL: Readonly<Partial<Record<ToolsetType, readonly string[]>>> = {
  todo: ["todo_write"],
};

/** A cast, and the moment from which it can act. */
interface Player {
  readonly cast: Cast;
  readonly ready: () => Promise<void>;
}

/** The agents of a team, each made ready when it is first needed. */
export class Casting implements AsyncDisposable {
  readonly #deps: CastingDeps;
  readonly #players = new Map<string, Player>();

  constructor(deps: CastingDeps) {
    this.#deps = deps;
  }

  /** Its tools may not have started. */
  find(name: string): Cast {
    return this.#playerOf(name).cast;
  }

  async start(name: string): Promise<Cast> {
    const { cast, ready } = this.#playerOf(name);
    await ready();
    return cast;
  }

  /** With its fallbacks behind it. */
  modelFor(definition: AgentDefinition, overrides: ModelOverrides): Model {
    return chainOf(definition, overrides, this.#deps.models);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const players = [...this.#players.values()];
    await Promise.all(players.map(({ cast }) => cast.toolbox[Symbol.asyncDispose]()));
  }

  #playerOf(name: string): Player {
    const known = this.#players.get(name);
    if (known !== undefined) return known;
    const player = openPlayer(getDefinition(this.#deps.team, name), this.#deps);
    this.#players.set(name, player);
    return player;
  }
}

export function getDefinition({ agents }: Team, name: string): AgentDefinition {
  const found = agents.find((agent) => agent.name === name);
  if (found !== undefined) return found;
  const names = agents.map((agent) => agent.name);
  throw new Fault(
    "invalid_request",
    `there is no agent ${JSON.stringify(name)} in this team; there are ${names.join(", ")}`,
    { details: { agent: name, agents: names } },
  );
}

function chainOf(definition: AgentDefinition, overrides: ModelOverrides, models: Models): Model {
  const { fallback } = definition;
  return models.chain({
    model: modelOf(definition, overrides),
    fallbacks: fallback.models,
    retries: fallback.retries,
    cooldown_ms: fallback.cooldown_ms,
  });
}

function openPlayer(definition: AgentDefinition, deps: CastingDeps): Player {
  const { ports, team, spec, fold, models, emit } = deps;
  const emitAs: Emit = (body) => emit({ ...body, agent: definition.name });
  const hasTool = (name: string) => toolbox.find(name) !== undefined;
  const toolbox: Toolbox = new Toolbox(openToolsets(definition, deps, hasTool), emitAs);
  let promptFiles: readonly PromptFile[] = [];
  const { work_dir } = spec;
  const is_git = isInGit(work_dir);
  const cast: Cast = {
    definition,
    toolbox,
    hooks: deps.hooksOf(definition),
    model: () => chainOf(definition, fold.model_overrides, models),
    instruction: () =>
      buildInstruction(definition, {
        agents: team.agents,
        now: new Date(ports.clock.now()),
        environment: { work_dir, platform: process.platform, is_git },
        prompt_files: promptFiles,
        toolset_instructions: toolbox.instructions(),
      }),
  };
  let starting: Promise<void> | undefined;
  const start = async () => {
    const names = [...definition.prompt_files, ...(spec.prompt_files ?? [])];
    const found = await readPromptFiles(names, { work_dir, home: ports.home });
    promptFiles = found.files;
    for (const message of found.warnings) emitAs({ type: "warning", code: "prompt_file", message });
    await toolbox.start();
  };
  const ready = () => {
    starting ??= start();
    return starting;
  };
  return { cast, ready };
}

function openToolsets(
  definition: AgentDefinition,
  deps: CastingDeps,
  hasTool: ToolsetDeps["hasTool"],
): ToolboxEntry[] {
  const { ports, spec, fold, team } = deps;
  const { work_dir } = spec;
  const common = { ...ports, hasTool, work_dir, memory: ports.openMemory(team.name) };
  const entries = definition.toolsets
    .filter(({ type }) => type !== "background_agents")
    .map((config) => {
      const toolset = createToolset(config, {
        ...common,
        restored: fold.toolState(STATEFUL[config.type] ?? []),
      });
      return { toolset, only: config.tools, instruction: config.instruction };
    });
  if (definition.skills === false) return entries;
  const skills = createSkillsToolset({
    config: definition.skills,
    work_dir,
    home: ports.home,
    log: ports.log,
  });
  return [...entries, { toolset: skills, only: undefined, instruction: undefined }];
}

function isInGit(dir: string): boolean {
  for (let at = dir; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return true;
    if (dirname(at) === at) return false;
  }
}
