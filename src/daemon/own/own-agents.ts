import { join } from "node:path";
import { createAgentOperations } from "#app/agent/agent.ts";
import { createAgents, interruptAgent } from "#app/agent/agents.ts";
import { WorkerRestarts } from "#app/restart/worker-restarts.ts";
import type { Places } from "#app/session.ts";
import { systemClock } from "#base/clock.ts";
import { silentLogger } from "#base/logger.ts";
import type { TeamSource } from "#contract/agent/spec.ts";
import type { Session } from "#contract/session.ts";
import { readConfig } from "#daemon/config.ts";
import { checkTrust } from "#host/trusted-files.ts";
import { withoutMarks } from "#proc/environment.ts";
import { guardMemory } from "#proc/platform/guard-memory.ts";
import type { SessionHosts } from "#session/session-host.ts";
import type { OwnClientOptions } from "./own-client.ts";

/** The agents of this machine without a server. */
export async function openOwnAgents(
  options: OwnClientOptions & { readonly places: Places },
  hosts: SessionHosts,
  stack: AsyncDisposableStack,
) {
  const { command, env, places, dataDir } = options;
  // Before the keys of model providers are read from the environment.
  await guardMemory({ ...env });
  checkTrust(dataDir);
  const config = readConfig(join(dataDir, "config.yaml"));
  const clock = systemClock;
  const agents = createAgents({
    ...{ hosts, command, clock, dataDir, keyEnv: env },
    parkAfterMs: config.agent_idle_ms,
    // The user of this machine may read whatever the user's files allow.
    teams: { folder: join(dataDir, "teams"), named: config.teams ?? {}, roots: "*" },
  });
  const where = { ...options.caller.where, env: withoutMarks(options.caller.where.env) };
  const caller = { ...options.caller, where };
  const log = silentLogger;
  const restarts = new WorkerRestarts({ hosts, agents, clock, log, launcher: where });
  stack.defer(() => restarts.settle());
  return {
    operations: createAgentOperations({ hosts, agents, places }, caller),
    interrupt: (session: Session) => interruptAgent({ hosts, agents }, where, session),
    readTeam: (source: TeamSource) => agents.teams.load(source, caller).team,
    tend: (session: Session) => restarts.consider(session),
  };
}
