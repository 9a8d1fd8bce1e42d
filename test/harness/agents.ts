import { join } from "node:path";
import { createAgentOperations } from "#app/agent/agent.ts";
import { type Agents, createAgents } from "#app/agent/agents.ts";
import type { AgentDeps } from "#app/agent/visible-agent.ts";
import type { AuditedAction } from "#app/audit.ts";
import { type Clock, systemClock } from "#base/clock.ts";
import { createLocalHosts } from "#session/local-host.ts";
import { workerPath } from "./agent-worker.ts";
import { anyPlaces, createTestCaller } from "./caller.ts";
import { openTestHost, type TestHost } from "./host.ts";

export const TEAM = `agents:
  root:
    model: openai/gpt-4o
    description: Helps.
    instruction: Help.
  broken:
    model: openai/gpt-4o
    description: Fails.
    instruction: Fail.
  silent:
    model: openai/gpt-4o
    description: Ends.
    instruction: End.
  killed:
    model: openai/gpt-4o
    description: Ends.
    instruction: End.
`;
export const inline = { kind: "inline", yaml: TEAM } as const;

export interface AgentSetting {
  readonly clock?: Clock;
  readonly keyEnv?: Readonly<Record<string, string>>;
  /** How a worker is started; absent = a puppet. */
  readonly command?: readonly string[];
}

export interface TestAgents extends AsyncDisposable {
  readonly host: TestHost;
  readonly deps: AgentDeps;
  readonly agents: Agents;
  readonly audited: AuditedAction[];
  /** One gateway more over the same host. */
  gateway(setting?: AgentSetting): AgentDeps;
}

export async function openTestAgents(setting: AgentSetting = {}): Promise<TestAgents> {
  const host = await openTestHost();
  const audited: AuditedAction[] = [];
  const gateway = (more: AgentSetting = {}): AgentDeps => {
    const hosts = createLocalHosts(host.client, host.sessions);
    const agents = createAgents({
      ...{ hosts, dataDir: host.dataDir },
      clock: more.clock ?? systemClock,
      command: more.command ?? [process.execPath, workerPath],
      keyEnv: more.keyEnv ?? {},
      teams: { folder: join(host.dataDir, "teams"), named: {}, roots: "*" },
    });
    const audit = { record: (done: AuditedAction) => void audited.push(done) };
    return { hosts, agents, places: anyPlaces, audit };
  };
  const deps = gateway(setting);
  return {
    host,
    deps,
    agents: deps.agents,
    audited,
    gateway,
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

export function operationsOf(deps: AgentDeps, caller = createTestCaller()) {
  return createAgentOperations(deps, caller);
}
