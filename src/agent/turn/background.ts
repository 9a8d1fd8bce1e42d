import type { AgentTool, ToolCall, ToolOutcome } from "#agent/toolset.ts";
import { randomId } from "#base/random-id.ts";
import { limits } from "#contract/limits.ts";
import type { Actor, Stage } from "./stage.ts";
import { checkTarget, runSubagent, type SubagentEnd } from "./subagent.ts";

const ID = { type: "string", description: "The id that start_background_agent gave." };
const NONE = { type: "object", properties: {}, additionalProperties: false };
const reads = { read_only: true, destructive: false };

/** Tools to send sub-agents out and look after them later. */
export function backgroundTools(
  subAgents: readonly string[],
): readonly (AgentTool & { polling: boolean })[] {
  return [
    {
      name: "start_background_agent",
      description:
        "Give a task to a sub-agent and go on with your own work at once. Read its answer later with read_background_agent.",
      input_schema: {
        type: "object",
        properties: {
          agent: { type: "string", enum: subAgents, description: "Who is to do it." },
          task: { type: "string", description: "What is to be done, complete in itself." },
        },
        required: ["agent", "task"],
        additionalProperties: false,
      },
      hints: reads,
      polling: false,
    },
    {
      name: "list_background_agents",
      description: "See which background agents you have and how they are getting on.",
      input_schema: NONE,
      hints: reads,
      polling: true,
    },
    {
      name: "read_background_agent",
      description: "Read the answer of a background agent, waiting for it up to a minute.",
      input_schema: {
        type: "object",
        properties: {
          id: ID,
          wait_seconds: {
            type: "integer",
            minimum: 0,
            maximum: LONGEST_WAIT_S,
            description: "How long to wait for its end. Default 0.",
          },
        },
        required: ["id"],
        additionalProperties: false,
      },
      hints: reads,
      polling: true,
    },
    {
      name: "stop_background_agent",
      description: "Stop a background agent and everything that it is doing.",
      input_schema: {
        type: "object",
        properties: { id: ID },
        required: ["id"],
        additionalProperties: false,
      },
      hints: reads,
      polling: false,
    },
  ];
}

const LONGEST_WAIT_S = 60;
const names = new Set(backgroundTools([]).map(({ name }) => name));

export function isBackgroundTool(tool: string): boolean {
  return names.has(tool);
}

interface Running {
  readonly id: string;
  readonly agent: string;
  readonly task: string;
  readonly abort: AbortController;
  readonly ended: Promise<SubagentEnd>;
  end: SubagentEnd | undefined;
}

/** The sub-agents that work beside the conversation. They outlive a turn, not the worker. */
export class Background {
  readonly #agents = new Map<string, Running>();

  get running(): number {
    return this.all().filter(({ end }) => end === undefined).length;
  }

  all(): readonly Running[] {
    return [...this.#agents.values()];
  }

  find(id: unknown): Running | undefined {
    return typeof id === "string" ? this.#agents.get(id) : undefined;
  }

  start(
    { agent, task }: { readonly agent: string; readonly task: string },
    actor: Actor,
    stage: Stage,
  ): string {
    const id = randomId("sub");
    const abort = new AbortController();
    const ended = runSubagent(
      { name: agent, task, background: true },
      {
        parent: actor,
        stage,
        signal: abort.signal,
        subagent_id: id,
      },
    ).catch((error: unknown): SubagentEnd => ({ outcome: "failed", text: `It failed: ${error}` }));
    const running: Running = { id, agent, task, abort, ended, end: undefined };
    this.#agents.set(id, running);
    void ended.then((end) => {
      running.end = end;
      this.#forgetOld();
    });
    return id;
  }

  async stopAll(): Promise<void> {
    for (const { abort } of this.all()) abort.abort();
    await Promise.all(this.all().map(({ ended }) => ended));
  }

  /** Answers that nobody has asked for in a long time. */
  #forgetOld(): void {
    const over = this.all().filter(({ end }) => end !== undefined);
    for (const { id } of over.slice(0, Math.max(0, over.length - limits.background_agents)))
      this.#agents.delete(id);
  }
}

export async function runBackgroundTool(
  call: ToolCall,
  actor: Actor,
  stage: Stage,
): Promise<ToolOutcome> {
  const { tool, input } = call;
  const { background } = stage;
  if (tool === "start_background_agent") return start(input, actor, stage);
  if (tool === "list_background_agents") {
    const lines = background.all().map((agent) => `${agent.id} ${describe(agent)}`);
    return { output: lines.join("\n") || "You have no background agents." };
  }
  const found = background.find(input.id);
  if (found === undefined)
    return {
      output: `There is no background agent ${JSON.stringify(input.id ?? null)}.`,
      is_error: true,
    };
  if (tool === "stop_background_agent") {
    found.abort.abort();
    await found.ended;
    return { output: `${found.id} was stopped.` };
  }
  const seconds = typeof input.wait_seconds === "number" ? input.wait_seconds : 0;
  await waitForEnd(found, Math.min(Math.max(0, seconds), LONGEST_WAIT_S) * 1000, { actor, stage });
  if (found.end === undefined) return { output: `${found.id} is still working.` };
  return { output: found.end.text, is_error: found.end.outcome !== "done" };
}

function start(input: ToolCall["input"], actor: Actor, stage: Stage): ToolOutcome {
  const { background } = stage;
  const problem = checkTarget(input.agent, actor.cast.definition.sub_agents);
  if (problem !== undefined) return { output: problem, is_error: true };
  if (typeof input.task !== "string" || input.task.trim() === "")
    return { output: "Say in `task` what is to be done.", is_error: true };
  if (background.running >= limits.background_agents) {
    const output = `${background.running} background agents are at work, which is as many as may be; stop one first.`;
    return { output, is_error: true };
  }
  const id = background.start({ agent: String(input.agent), task: input.task }, actor, stage);
  return { output: `${id} has started. Read its answer with read_background_agent.` };
}

async function waitForEnd(
  { ended }: Running,
  ms: number,
  { actor, stage }: { readonly actor: Actor; readonly stage: Stage },
): Promise<void> {
  if (ms === 0 || actor.signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  using _timer = stage.ports.clock.timer(ms, resolve);
  const stop = () => resolve();
  actor.signal.addEventListener("abort", stop, { once: true });
  await Promise.race([ended, promise]);
  actor.signal.removeEventListener("abort", stop);
}

function describe({ agent, task, end }: Running): string {
  const [firstLine = ""] = task.split("\n");
  return `${agent}: ${end?.outcome ?? "working"}: ${firstLine.slice(0, 100)}`;
}
