import type { Logger } from "#base/logger.ts";
import { isLive } from "#contract/ended.ts";
import type { Session } from "#contract/session.ts";
import { BoundedMap } from "#contract/values/bounded-map.ts";
import type { SessionHosts } from "#session/session-host.ts";

/** Remembered at most; a request that began before the removal arrives long before so many more are removed. */
const REMEMBERED = 1000;

/**
 * Workspaces that this gateway has removed. A request that began before the removal may still start a session in one,
 * behind the look for live sessions; such a session is closed when the host tells of it.
 */
export class RemovedWorkspaces {
  readonly #ids = new BoundedMap<string, true>(REMEMBERED);
  readonly #hosts: Pick<SessionHosts, "of">;
  readonly #log: Logger;

  constructor(hosts: Pick<SessionHosts, "of">, log: Logger) {
    this.#hosts = hosts;
    this.#log = log;
  }

  add(workspaceId: string): void {
    this.#ids.set(workspaceId, true);
  }

  /** Called with every session that changes. */
  check(session: Session): void {
    if (!this.#ids.has(session.workspace_id) || !isLive(session)) return;
    void this.#close(session);
  }

  async #close({ session_id, workspace_id }: Session): Promise<void> {
    const detail = `the workspace ${workspace_id} was removed`;
    try {
      await this.#hosts.of(session_id).call("session.close", { session_id, detail });
    } catch (error) {
      this.#log.error("a session of a removed workspace could not be closed", {
        session_id,
        error,
      });
    }
  }
}
