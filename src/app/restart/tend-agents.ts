import type { SessionList } from "#app/live/session-list.ts";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { isLive } from "#contract/ended.ts";
import type { SessionHosts } from "#session/session-host.ts";
import { UnattendedAgents } from "./unattended-agents.ts";
import { WorkerRestarts, type WorkerRestartsDeps } from "./worker-restarts.ts";

interface TendingDeps extends WorkerRestartsDeps {
  readonly hosts: SessionHosts;
  readonly board: SessionList;
  readonly sessionsFolder: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface AgentsTended extends Disposable {
  /** An agent was running when the host was last heard of: its end must be heard as well. */
  hasRunning(): boolean;
}

/** How often a gateway without a host looks whether an agent has one. */
const LOOK_EVERY_MS = 5000;

/**
 * A gateway restarts every agent that crashed while messages wait: those that it hears of, those that crashed before
 * it started, and those of a host that was started by other processes.
 */
export function tendAgents(deps: TendingDeps): AgentsTended {
  const { hosts, board, clock, log } = deps;
  using stack = new DisposableStack();
  const restarts = stack.use(new WorkerRestarts(deps));
  stack.use(
    board.changes.on(({ event }) => {
      if (event.type === "ready") for (const session of board.sessions) restarts.consider(session);
      else if ("session" in event) restarts.consider(event.session);
    }),
  );
  const unattended = new UnattendedAgents(deps.sessionsFolder);
  let timer: Disposable | undefined;
  let isEnded = false;
  stack.defer(() => {
    isEnded = true;
    timer?.[Symbol.dispose]();
  });
  const look = async () => {
    try {
      const [host] = hosts.all();
      const found = host.state === "open" ? undefined : await unattended.find();
      if (found !== undefined && !isEnded) await hosts.of(found).connect();
    } catch (error) {
      if (!isEnded) log.warn("agents were not looked for", { error });
    }
    if (!isEnded) timer = clock.timer(LOOK_EVERY_MS, () => void look());
  };
  void look();
  const owned = stack.move();
  return {
    hasRunning: () => {
      for (const session of board.sessions)
        if (session.kind === "agent" && isLive(session)) return true;
      return false;
    },
    [Symbol.dispose]: () => owned.dispose(),
  };
}
