import type { AgentEventBody } from "#contract/agent/events.ts";
import type { PromptCard, SkillCard, ToolsetStatus } from "#contract/agent/views.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import type { AgentTool, Toolset } from "./toolset.ts";

export interface ToolboxEntry {
  readonly toolset: Toolset;
  /** Only these of its tools; absent = all. */
  readonly only: readonly string[] | undefined;
  readonly instruction: string | undefined;
}

export interface FoundTool {
  readonly tool: AgentTool;
  readonly toolset: Toolset;
}

/** The toolsets of one agent, started when it first acts. */
export class Toolbox implements AsyncDisposable {
  readonly #entries: readonly ToolboxEntry[];
  readonly #emit: (body: AgentEventBody) => void;
  readonly #listening: Disposable[];
  #started: Promise<void> | undefined;

  constructor(entries: readonly ToolboxEntry[], emit: (body: AgentEventBody) => void) {
    this.#entries = entries;
    this.#emit = emit;
    this.#listening = entries.map((entry) => entry.toolset.onChanged(() => this.#tell(entry)));
  }

  /** A toolset that cannot start is told and left out; the others work. */
  start(): Promise<void> {
    this.#started ??= this.#startAll();
    return this.#started;
  }

  tools(): readonly FoundTool[] {
    const found = new Map<string, FoundTool>();
    for (const entry of this.#entries)
      for (const tool of toolsOf(entry))
        if (!found.has(tool.name)) found.set(tool.name, { tool, toolset: entry.toolset });
    return [...found.values()].slice(0, limits.tools_per_agent);
  }

  find(name: string): FoundTool | undefined {
    return this.tools().find(({ tool }) => tool.name === name);
  }

  /** Each once, also when a toolset and its entry say the same. */
  instructions(): readonly string[] {
    const said = this.#entries.flatMap(({ instruction, toolset }) => [
      toolset.instruction ?? "",
      instruction ?? "",
    ]);
    return [...new Set(said)].filter((text) => text !== "");
  }

  statuses(): readonly ToolsetStatus[] {
    return this.#entries.map(describeStatus);
  }

  async restart(name: string): Promise<ToolsetStatus> {
    const entry = this.#entries.find(({ toolset }) => toolset.name === name);
    if (entry === undefined) throw unknown("toolset", name, this.#names());
    if (!entry.toolset.restartable)
      throw new Fault("unsupported", `the toolset ${name} has nothing that could be restarted`);
    await entry.toolset.restart();
    return describeStatus(entry);
  }

  async prompts(): Promise<readonly PromptCard[]> {
    const lists = await Promise.all(this.#entries.map(({ toolset }) => toolset.prompts()));
    return lists.flat();
  }

  async runPrompt(name: string, args: Readonly<Record<string, string>>): Promise<string> {
    for (const { toolset } of this.#entries) {
      const text = await toolset.runPrompt(name, args);
      if (text !== undefined) return text;
    }
    const known = (await this.prompts()).map((prompt) => prompt.name);
    throw unknown("prompt", name, known);
  }

  skills(): readonly SkillCard[] {
    return this.#entries.flatMap(({ toolset }) => toolset.skills());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const listening of this.#listening) listening[Symbol.dispose]();
    await Promise.all(this.#entries.map(({ toolset }) => toolset[Symbol.asyncDispose]()));
  }

  async #startAll(): Promise<void> {
    await Promise.all(
      this.#entries.map(async (entry) => {
        await entry.toolset.start();
        this.#tell(entry);
      }),
    );
  }

  #names(): string[] {
    return this.#entries.map(({ toolset }) => toolset.name);
  }

  #tell(entry: ToolboxEntry): void {
    const { name, state, problem } = entry.toolset;
    this.#emit({
      type: "tools.changed",
      toolset: name,
      status: state,
      tools: toolsOf(entry).map((tool) => tool.name),
      ...defined({ message: problem }),
    });
  }
}

function toolsOf({ toolset, only }: ToolboxEntry): readonly AgentTool[] {
  const tools = toolset.tools();
  return only === undefined ? tools : tools.filter(({ name }) => only.includes(name));
}

function describeStatus(entry: ToolboxEntry): ToolsetStatus {
  const { name, kind, state, problem, restartable } = entry.toolset;
  return {
    name,
    kind,
    status: state,
    tools: toolsOf(entry).length,
    restartable,
    ...defined({ message: problem }),
  };
}

function unknown(what: string, name: string, known: readonly string[]): Fault {
  const there = known.length === 0 ? "there is none" : `there are ${known.join(", ")}`;
  return new Fault("invalid_request", `there is no ${what} ${JSON.stringify(name)}; ${there}`, {
    details: { [what]: name, known: known.slice(0, limits.list_default) },
  });
}
