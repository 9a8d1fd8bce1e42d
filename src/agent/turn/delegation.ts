import type { AgentDefinition } from "#agent/team/team.ts";
import type { AgentTool, ToolCall, ToolOutcome } from "#agent/toolset.ts";
import { backgroundTools, isBackgroundTool, runBackgroundTool } from "./background.ts";
import type { Actor, Stage } from "./stage.ts";
import { checkTarget, runSubagent } from "./subagent.ts";

const text = (description: string) => ({ type: "string", description });
const neutral = { read_only: true, destructive: false };

/** What an agent can do with its team. Delegating changes nothing by itself: what the other one does is asked for then. */
export function delegationTools(
  definition: AgentDefinition,
): readonly (AgentTool & { polling: boolean })[] {
  const { sub_agents, handoffs } = definition;
  const tools: (AgentTool & { polling: boolean })[] = [];
  if (sub_agents.length > 0) {
    tools.push({
      name: "transfer_task",
      description:
        "Give a task to one of your sub-agents and wait for its answer. It knows nothing of this conversation: say everything that it needs. Several calls at once run side by side.",
      input_schema: {
        type: "object",
        properties: {
          agent: { type: "string", enum: sub_agents, description: "Who is to do it." },
          task: text("What is to be done, complete in itself."),
          expected_output: text("What the answer should look like."),
        },
        required: ["agent", "task"],
        additionalProperties: false,
      },
      hints: neutral,
      polling: false,
    });
  }
  if (handoffs.length > 0) {
    tools.push({
      name: "handoff",
      description:
        "Let another agent go on with this conversation in your place. It sees everything that was said.",
      input_schema: {
        type: "object",
        properties: { agent: { type: "string", enum: handoffs, description: "Who is to go on." } },
        required: ["agent"],
        additionalProperties: false,
      },
      hints: neutral,
      polling: false,
    });
  }
  if (definition.toolsets.some(({ type }) => type === "background_agents"))
    tools.push(...backgroundTools(sub_agents));
  return tools;
}

export function isDelegation(tool: string): boolean {
  return tool === "transfer_task" || tool === "handoff" || isBackgroundTool(tool);
}

export async function runDelegation(
  call: ToolCall,
  actor: Actor,
  stage: Stage,
): Promise<ToolOutcome> {
  const { tool, input } = call;
  if (isBackgroundTool(tool)) return runBackgroundTool(call, actor, stage);
  const { definition } = actor.cast;
  const { agent, task, expected_output } = input;
  const allowed = tool === "handoff" ? definition.handoffs : definition.sub_agents;
  const problem = checkTarget(agent, allowed);
  if (problem !== undefined) return { output: problem, is_error: true };
  if (tool === "handoff") return handOff(String(agent), actor, stage);
  if (typeof task !== "string" || task.trim() === "")
    return { output: "Say in `task` what is to be done.", is_error: true };
  const whole =
    typeof expected_output === "string" && expected_output !== ""
      ? `${task}\n\nExpected output: ${expected_output}`
      : task;
  const { call_id } = call;
  const sent = { name: String(agent), task: whole, background: false, call_id };
  const ended = await runSubagent(sent, { parent: actor, stage, signal: actor.signal });
  return { output: ended.text, is_error: ended.outcome !== "done" };
}

async function handOff(name: string, actor: Actor, stage: Stage): Promise<ToolOutcome> {
  const cast = await stage.cast(name);
  const from = actor.cast.definition.name;
  if (actor.subagent_id === undefined) stage.switchAgent(cast);
  actor.cast = cast;
  return { output: `${name} goes on in place of ${from}.` };
}
