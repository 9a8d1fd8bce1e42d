import { findMissingKeys } from "#agent/team/describe-team.ts";
import { loadTeam } from "#agent/team/load-team.ts";
import type { AgentView } from "#app/agent/agent-view.ts";
import type { Agents } from "#app/agent/agents.ts";
import type { Launcher } from "#app/agent/revive.ts";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { hasWork } from "#contract/agent/agent-status.ts";
import { isCrashed } from "#contract/ended.ts";
import { asFault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";

export interface WorkerRestartsDeps {
  readonly hosts: Pick<SessionHosts, "of">;
  readonly agents: Pick<Agents, "views" | "lives" | "launching">;
  readonly clock: Clock;
  readonly log: Logger;
  /** The settings of a worker that this process starts by itself. */
  readonly launcher: Launcher;
}

/** After a host died many agents may wait at once; each start is a process of its own. */
const RESTARTS_AT_ONCE = 4;
/** Before the second restart; each further one waits twice as long. The first does not wait. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

interface Run {
  /** The session changed while it was looked at. */
  isBehind: boolean;
  readonly done: Promise<void>;
}

type Verdict =
  | { readonly kind: "leave"; readonly why?: string; readonly details?: object }
  | { readonly kind: "restart"; readonly due: number };

/**
 * Starts the next life of an agent whose worker crashed while accepted messages wait. The host cannot: a worker needs
 * the keys of model providers, which only gateways and commands have.
 *
 *   crashed, messages wait → pause by the number of crashes → `lives.ensure` → its first turn takes them up
 *
 * The number of crashes is in the session's log, so several processes, and those that come later, share the limit.
 */
export class WorkerRestarts implements Disposable {
  readonly #deps: WorkerRestartsDeps;
  readonly #runs = new Map<string, Run>();
  readonly #ending = new AbortController();
  readonly #queue: (() => void)[] = [];
  #free = RESTARTS_AT_ONCE;

  constructor(deps: WorkerRestartsDeps) {
    this.#deps = deps;
  }

  /** Called with the newest of a session, at every change. */
  consider(session: Session): void {
    const { session_id } = session;
    if (this.#ending.signal.aborted || !mayBeDue(session)) return;
    const known = this.#runs.get(session_id);
    if (known !== undefined) {
      known.isBehind = true;
      return;
    }
    const run: Run = {
      isBehind: false,
      done: this.#run(session_id).finally(() => {
        this.#runs.delete(session_id);
        if (run.isBehind) this.consider(session);
      }),
    };
    this.#runs.set(session_id, run);
  }

  /** Finishes restarts that have begun, and waits for no further pause: for a process that is about to end. */
  async settle(): Promise<void> {
    this.#ending.abort();
    await Promise.all([...this.#runs.values()].map(({ done }) => done));
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
  }

  async #run(sessionId: string): Promise<void> {
    try {
      using handle = await this.#deps.hosts.of(sessionId).open(sessionId);
      await this.#attend(handle);
    } catch (error) {
      if (this.#ending.signal.aborted) return;
      const { code, message } = asFault(error);
      this.#deps.log.warn("a crashed agent was not looked at", {
        session_id: sessionId,
        code,
        message,
      });
    }
  }

  /** Until its worker lives, or this process can do nothing for it. */
  async #attend(handle: SessionHandle): Promise<void> {
    const { clock, log } = this.#deps;
    const { session_id } = handle.session;
    let failed = { count: 0, at: 0 };
    while (failed.count <= limits.agent_crash_restarts) {
      const verdict = await this.#judge(handle);
      if (verdict.kind === "leave") {
        if (verdict.why !== undefined) log.warn(verdict.why, { session_id, ...verdict.details });
        return;
      }
      const due = Math.max(verdict.due, failed.at + pauseAfter(failed.count));
      if (due > clock.now()) {
        if (!(await this.#pause(due - clock.now()))) return;
        continue;
      }
      try {
        await this.#inTurn(() => this.#deps.agents.lives.ensure(session_id, this.#deps.launcher));
        log.info("an agent that crashed was restarted: messages wait", { session_id });
      } catch (error) {
        failed = { count: failed.count + 1, at: clock.now() };
        const { code, message } = asFault(error);
        log.warn("a crashed agent could not be restarted", { session_id, code, message });
      }
    }
  }

  async #judge(handle: SessionHandle): Promise<Verdict> {
    const { session } = handle;
    if (handle.state === "closed" || !isCrashed(session)) return { kind: "leave" };
    return await this.#deps.agents.views.read(handle, (view) => this.#weigh(view, session));
  }

  #weigh({ fold }: AgentView, { exited_at }: Session): Verdict {
    const { spec, status } = fold;
    if (!hasWork(status) || spec === undefined) return { kind: "leave" };
    if (!fold.isRestartDue)
      return {
        kind: "leave",
        why: "an agent crashed too often: its messages wait until it is sent another",
        details: { crashes: status.crashes },
      };
    const overrides = { ...spec.model_overrides, ...fold.model_overrides };
    const { keyEnv } = this.#deps.agents.launching;
    const missing = findMissingKeys(loadTeam(spec), { agent: fold.agent, overrides, keyEnv });
    if (missing.length > 0)
      return {
        kind: "leave",
        why: "an agent crashed while messages wait, and this process does not have its key",
        details: { keys: missing },
      };
    const ended = exited_at === null ? 0 : Date.parse(exited_at);
    return { kind: "restart", due: ended + pauseAfter(status.crashes - 1) };
  }

  /** False when there is no time left for it. */
  async #pause(ms: number): Promise<boolean> {
    const { signal } = this.#ending;
    if (signal.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timer = this.#deps.clock.timer(ms, resolve);
    const stop = () => resolve();
    signal.addEventListener("abort", stop, { once: true });
    await promise;
    signal.removeEventListener("abort", stop);
    return !signal.aborted;
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    try {
      await work();
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

/** Work is due without a process: messages wait. A host that knows no status leaves it to the log. */
function mayBeDue(session: Session): boolean {
  return isCrashed(session) && (session.status === "working" || session.status === null);
}

function pauseAfter(failures: number): number {
  if (failures <= 0) return 0;
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
}
