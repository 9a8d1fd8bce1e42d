import { expect, test } from "vitest";
import * as z from "zod";
import { acts, defineTool } from "#agent/define-tool.ts";
import { ModelHistory } from "#agent/state/model-history.ts";
import { Toolbox } from "#agent/toolbox.ts";
import { createFixedToolset } from "#agent/toolsets/fixed-toolset.ts";
import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import type { AgentEventBody } from "#contract/agent/events.ts";
import { runCalls } from "./calls.ts";
import type { Actor, Stage } from "./stage.ts";

/** An agent with one tool of this name, which has just called it so often. */
function openCaller(name: string, times: number) {
  const events: AgentEventBody[] = [];
  const conversation = new ModelHistory();
  let running = 0;
  let mostRunning = 0;
  const tool = defineTool({
    ...{ name, description: "", input: z.strictObject({}), hints: acts },
    run: async () => {
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      await Promise.resolve();
      running -= 1;
      return "its own";
    },
  });
  const config = { name: "mcp", tools: undefined, instruction: undefined };
  const toolset = createFixedToolset(config, { kind: "mcp", tools: [tool] });
  const toolbox = new Toolbox(
    [{ toolset, only: undefined, instruction: undefined }],
    () => undefined,
  );
  const nothing = { blocked: undefined, context: [], stop: undefined };
  const emit = (body: AgentEventBody) => {
    events.push(body);
    // The time and the session do not matter here.
    conversation.apply({ ...body, at: "", session_id: "" } as never);
  };
  const message_id = "msg_1";
  emit({ type: "message.start", message_id, model: "m" });
  for (let n = 0; n < times; n += 1)
    emit({ type: "tool.call.end", message_id, call_id: `cal_${n}`, tool: name, input: {} });
  emit({ type: "message.end", message_id, model: "m", text: "", stop_reason: "tool_calls" });
  // As much of both as a call needs.
  const actor = {
    ...{ conversation, emit, signal: new AbortController().signal, subagent_id: undefined },
    cast: {
      toolbox,
      definition: { sub_agents: ["other"], handoffs: ["other"], toolsets: [] },
      hooks: { beforeTool: async () => nothing, afterTool: async () => nothing },
    },
  } as unknown as Actor;
  const stage = {
    ports: { clock: new ManualClock(), log: silentLogger },
    fold: { talk: { approvals: [] } },
    permissions: { decide: () => ({ kind: "allow", because: "" }) },
    inFlight: new Set(),
  } as unknown as Stage;
  return { run: () => runCalls(actor, stage), events, mostRunning: () => mostRunning };
}

test.each(["transfer_task", "handoff", "start_background_agent"])(
  "a tool of a server that is called %s is that server's, and runs as its hints say",
  async (name) => {
    const caller = openCaller(name, 2);
    await caller.run();
    const results = caller.events.flatMap((each) => (each.type === "tool.result" ? [each] : []));
    expect(results.map(({ output, is_error }) => [output, is_error])).toEqual([
      ["its own", false],
      ["its own", false],
    ]);
    expect(caller.mostRunning()).toBe(1);
  },
);
