import { expect, test } from "vitest";
import { agentRequests } from "./agent-requests.ts";
import { workerInputs } from "./worker-requests.ts";

test("the requests that workers know keep their names", () => {
  const named = Object.entries(agentRequests).map(([name, { worker }]) => `${name} ${worker}`);
  // Workers of other versions read these names on stdin: they are only ever added to.
  expect(named).toEqual([
    "agent.send messages",
    "agent.steer steer",
    "agent.followup followup",
    "agent.resume resume",
    "agent.elicitation elicitation",
    "agent.summarize summarize",
    "agent.switch agent",
    "agent.model model",
    "agent.permit permissions",
    "agent.tools tools",
    "agent.toolsets toolsets",
    "agent.restart_toolset restart_toolset",
    "agent.models models",
    "agent.prompts prompts",
    "agent.prompt prompt",
    "agent.skills skills",
  ]);
});

test("a worker takes the input of the operation without the session's id", () => {
  for (const { worker, input } of Object.values(agentRequests)) {
    const { session_id, ...rest } = input.shape;
    expect(session_id).toBeDefined();
    const keys = worker === "model" ? ["keys"] : [];
    expect(Object.keys(workerInputs[worker].shape)).toEqual([...Object.keys(rest), ...keys]);
    expect(workerInputs[worker].safeParse({ id: "unknown" }).success).toBe(false);
  }
});
