import { createHooks, type HookRunner } from "#agent/hooks/hooks.ts";
import { createRunCommand } from "#agent/hooks/run-command.ts";
import type { AgentPorts } from "#agent/ports.ts";
import type { AgentDefinition, Team } from "#agent/team/team.ts";
import type { HookedCall, HookedInput, TurnHooks } from "#agent/turn/hooks.ts";
import type { Emit } from "#agent/turn/stage.ts";
import { isObject } from "#contract/values/is-object.ts";

interface TurnHooksDeps {
  readonly ports: AgentPorts;
  readonly team: Team;
  readonly work_dir: string;
  readonly emit: Emit;
}

/** The commands that the team's file puts at the moments of a turn, for each of its agents. */
export function createTurnHooks(deps: TurnHooksDeps): (definition: AgentDefinition) => TurnHooks {
  const { ports, team, work_dir, emit } = deps;
  const { clock, env, session_id } = ports;
  const runner = createHooks({
    team: team.hooks,
    ofAgent: (name) => team.agents.find((agent) => agent.name === name)?.hooks,
    runCommand: createRunCommand({ clock }),
    clock,
    emit,
    work_dir,
    env,
    session_id,
  });
  return ({ name }) => ({ ...toolHooks(runner, name), ...sessionHooks(runner, name) });
}

function toolHooks(runner: HookRunner, agent: string): Pick<TurnHooks, "beforeTool" | "afterTool"> {
  return {
    beforeTool: async ({ tool, call_id, input }, signal): Promise<HookedCall> => {
      const payload = { agent, tool_name: tool, call_id, tool_input: input };
      const outcome = await runner.run("pre_tool_use", payload, { signal });
      const isChanged = outcome.input !== undefined;
      // A tool's input is an object; something else is no input, and no reason to run the old one either.
      const blocked =
        outcome.blocked ??
        (isChanged && !isObject(outcome.input)
          ? "it changed the input to no JSON object"
          : undefined);
      return {
        blocked,
        input: isObject(outcome.input) ? outcome.input : undefined,
        decision: outcome.permission,
        context: outcome.context,
        stop: outcome.stop,
      };
    },
    afterTool: async ({ tool, call_id, input }, { output, is_error = false }, signal) => {
      const tool_output = { output, is_error };
      const payload = { agent, tool_name: tool, call_id, tool_input: input, tool_output };
      const outcome = await runner.run("post_tool_use", payload, { signal });
      const { context, blocked, stop } = outcome;
      return {
        context: blocked === undefined ? context : [`A hook says: ${blocked}`, ...context],
        stop,
      };
    },
  };
}

function sessionHooks(
  runner: HookRunner,
  agent: string,
): Omit<TurnHooks, "beforeTool" | "afterTool"> {
  return {
    onUserInput: async (user_text, signal): Promise<HookedInput> => {
      const { blocked, input, context } = await runner.run(
        "on_user_input",
        { agent, user_text },
        { signal },
      );
      return { blocked, text: typeof input === "string" ? input : undefined, context };
    },
    onStop: async (text, signal) => {
      const outcome = await runner.run(
        "stop",
        { agent, stop_reason: "done", user_text: text },
        { signal },
      );
      if (outcome.stop !== undefined) return undefined;
      const reasons = [outcome.blocked, ...(outcome.blocked === undefined ? [] : outcome.context)];
      return outcome.blocked === undefined ? undefined : reasons.join("\n\n");
    },
    onSessionStart: async (source, signal) => {
      const { context } = await runner.run(
        "session_start",
        { agent, stop_reason: source },
        { signal },
      );
      return context;
    },
    onSessionEnd: async (reason, signal) => {
      await runner.run("session_end", { agent, stop_reason: reason }, { signal });
    },
  };
}
