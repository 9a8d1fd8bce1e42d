import { join } from "node:path";
import type { Clock } from "#base/clock.ts";
import { Emitter } from "#base/emitter.ts";
import type { Logger } from "#base/logger.ts";
import { randomId } from "#base/random-id.ts";
import { isFinal, isResumable } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import { SessionId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import type { EndReason, RemovalReason } from "#contract/session-state.ts";
import { checkFreeDescriptors, checkFreeDisk } from "#host/capacity.ts";
import { chooseExpired, type RetentionLimits } from "#host/retention.ts";
import type { Secrets } from "#host/secrets.ts";
import type { HandedSession } from "#host/session/hand-over.ts";
import { HostSession } from "#host/session/host-session.ts";
import type { SessionRecord } from "#host/session/session-record.ts";
import { findBound, type TreeNode } from "#host/session-tree.ts";
import type { LogIo } from "#log/log-io.ts";
import type { Spawner } from "#proc/child.ts";
import type { CreateRequest, ReviveRequest } from "./create-request.ts";
import {
  asDiskFault,
  type PreparedSession,
  prepareRevival,
  prepareSession,
  removeDir,
} from "./prepare-session.ts";
import { leftoverOf, recoverSessions } from "./recovery.ts";
import { checkName, type Renaming } from "./session-names.ts";

export interface SessionsDeps {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly spawner: Spawner;
  readonly live_cap: number;
  readonly retainBytes?: number;
  /** How logs are written; absent = as the disk has it. */
  readonly logIo?: LogIo;
  readonly keep?: RetentionLimits;
  /** Absent = no session has a connection of its own. */
  readonly secrets?: Secrets;
}

const KEEP: RetentionLimits = {
  kept_ms: limits.exited_kept_ms,
  kept_count: limits.exited_kept_count,
  kept_bytes: limits.exited_kept_bytes,
};
const SWEEP_EVERY_MS = 10 * 60 * 1000;

export interface Removal {
  readonly session_id: string;
  readonly parent_session_id: string | null;
  readonly reason: RemovalReason;
}

/** All sessions of a host, the ended ones that are still kept included. */
export class Sessions {
  readonly #deps: SessionsDeps;
  readonly #sessions = new Map<string, HostSession>();
  readonly #byKey = new Map<string, Promise<HostSession>>();
  #shutdown: Promise<void> | undefined;
  #sweep: Disposable | undefined;
  readonly #unreadable: string[] = [];
  /** A session was made, changed or removed. */
  readonly changes: Emitter<string>;
  /** One was removed, and why; emitted before `changes`. */
  readonly removals: Emitter<Removal>;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
    const onError = (error: unknown) => deps.log.error("a listener failed", { error });
    this.changes = new Emitter(onError);
    this.removals = new Emitter(onError);
  }

  /** Takes over what earlier hosts left in the folder. */
  async recover(): Promise<void> {
    const { folder } = this.#deps;
    const adopted = new Set(this.#sessions.keys());
    const { records, leftovers, unreadable } = recoverSessions(folder, this.#deps, adopted);
    this.#unreadable.push(...unreadable);
    for (const record of records) this.#takeOver(record);
    const survivors =
      leftovers.length === 0 ? [] : await this.#deps.spawner.endLeftovers(leftovers);
    if (leftovers.length > 0) {
      this.#deps.log.warn("sessions of an earlier host were lost", {
        sessions: leftovers.length,
        survivors,
      });
    }
    this.#sweepNow();
  }

  /** Goes on with sessions of the program before us, before anything else. One that cannot be is lost, alone. */
  adopt(handed: readonly HandedSession[], passedMs: number): void {
    for (const one of handed) {
      const session = this.#takeOver(one.record);
      try {
        session.adopt(this.#deps.spawner, one, passedMs);
      } catch (error) {
        this.#deps.log.error("a session could not be taken over", {
          session_id: session.id,
          error,
        });
        session.dispose();
        this.#sessions.delete(session.id);
      }
    }
  }

  /** Whether each of them can be handed over at this moment. */
  settle(): boolean {
    const all = this.all();
    if (this.isShuttingDown || all.some((session) => session.isMoving)) return false;
    return all.every((session) => session.settleLogs());
  }

  handOver(): HandedSession[] {
    return this.all().flatMap((session) => session.handOver() ?? []);
  }

  get live(): number {
    let count = 0;
    for (const session of this.#sessions.values()) if (session.isLive) count += 1;
    return count;
  }

  get unreadable(): readonly string[] {
    return this.#unreadable;
  }

  all(): readonly HostSession[] {
    return [...this.#sessions.values()];
  }

  get(sessionId: string): HostSession {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw sessionNotFound(sessionId);
    return session;
  }

  find(sessionId: string): HostSession | undefined {
    return this.#sessions.get(sessionId);
  }

  /** The same idempotency key answers with the session that it made the first time. */
  async create(request: CreateRequest): Promise<HostSession> {
    const key = keyOf(request.labels ?? {}, request.parent_session_id);
    const known = key === undefined ? undefined : this.#byKey.get(key);
    if (known !== undefined) return await known;
    const starting = this.#start(request);
    if (key !== undefined) this.#byKey.set(key, starting);
    try {
      return await starting;
    } catch (error) {
      // What never started may be tried again under the same key.
      if (key !== undefined) this.#byKey.delete(key);
      throw error;
    }
  }

  /** Starts an agent that has ended again: in the same session, behind the same events. */
  async revive(request: ReviveRequest): Promise<HostSession> {
    const session = this.get(request.session_id);
    using _held = session.holdForRevival();
    this.#checkRoom();
    // Two lives at once would be two agents: what the last one left running goes first.
    await this.#endLastLife(session);
    // Meanwhile it may have been closed, and others started.
    session.checkRevival();
    this.#checkRoom();
    try {
      const bound = this.#bind(session.record);
      await session.revive(this.#deps.spawner, prepareRevival(request, session.record, bound));
    } catch (error) {
      throw asDiskFault(error);
    }
    if (this.isShuttingDown) throw shuttingDown();
    return session;
  }

  /** Throws `conflict` for a name that another live session of the workspace has. */
  rename({ session_id, ...change }: Renaming): HostSession {
    const session = this.get(session_id);
    if (typeof change.name === "string") checkName(this.all(), change.name, session.record);
    session.rename(change);
    return session;
  }

  async close(sessionId: string, reason: EndReason, detail?: string): Promise<HostSession> {
    const session = this.get(sessionId);
    const { isRecovered } = session;
    await Promise.all([
      // First of all, and at once: from here on it is not revived.
      session.close(reason, detail),
      isRecovered ? this.#endLastLife(session) : undefined,
      this.#closeChildren(sessionId),
    ]);
    // What it has started while it was ending.
    await this.#closeChildren(sessionId);
    return session;
  }

  /** Closes if need be, then removes the logs and every trace. */
  async purge(sessionId: string): Promise<void> {
    const session = await this.close(sessionId, "user_requested");
    this.#remove(session, "user_requested");
  }

  /** Ends everything, in parallel; every caller waits for the same end. Nothing can be started after this. */
  shutdown(detail?: string): Promise<void> {
    this.#shutdown ??= this.#endAll(detail);
    return this.#shutdown;
  }

  get isShuttingDown(): boolean {
    return this.#shutdown !== undefined;
  }

  async #endAll(detail: string | undefined): Promise<void> {
    // Those that run, and those that are just being started: a start that comes back finds that it is closing.
    await Promise.all(this.all().map((session) => session.close("host_shutdown", detail)));
    for (const session of this.all()) session.dispose();
    this.#sweep?.[Symbol.dispose]();
  }

  async #closeChildren(sessionId: string): Promise<void> {
    const children = this.all().filter(
      ({ record, isLive }) =>
        record.parent_session_id === sessionId && !record.detach && (isLive || isResumable(record)),
    );
    await Promise.all(children.map((child) => this.close(child.id, "parent_closed")));
  }

  async #start(request: CreateRequest): Promise<HostSession> {
    this.#checkRoom();
    const { kind, parent_session_id = null } = request;
    if (parent_session_id !== null) this.get(parent_session_id);
    const { clock, folder } = this.#deps;
    const session_id = SessionId.parse(randomId("ses"));
    if (request.name !== undefined)
      checkName(this.all(), request.name, { session_id, labels: request.labels ?? {} });
    const bound = this.#findBound({ session_id, kind, parent_session_id });
    const made = prepareSession(request, { folder, session_id, bound, now: clock.now() });
    const session = this.#register(made);
    try {
      this.#bind(session.record);
      await session.start(this.#deps.spawner, made.spec);
    } catch (error) {
      session.discard();
      this.#forget(session, "start_failed");
      this.#tryTo(() => this.#removeFiles(session), session);
      throw asDiskFault(error);
    }
    if (this.isShuttingDown) throw shuttingDown();
    return session;
  }

  #checkRoom(): void {
    if (this.isShuttingDown) throw shuttingDown();
    if (this.live >= this.#deps.live_cap) {
      throw new Fault(
        "too_many",
        `${this.live} sessions are running, which is as many as may; close some first`,
        {
          details: { limit: this.#deps.live_cap },
        },
      );
    }
    checkFreeDescriptors();
    checkFreeDisk(this.#deps.folder);
  }

  #register({ dir, record }: Pick<PreparedSession, "dir" | "record">): HostSession {
    const { clock, log, logIo, retainBytes = limits.output_retained_bytes } = this.#deps;
    const session = new HostSession({ dir, record, clock, log, logIo, retainBytes });
    this.#sessions.set(session.id, session);
    let wasLive = session.isLive;
    session.changes.on(() => {
      this.changes.emit(session.id);
      const hasEnded = wasLive && !session.isLive;
      wasLive = session.isLive;
      if (hasEnded) this.#sweepSoon();
    });
    this.changes.emit(session.id);
    return session;
  }

  #takeOver(record: SessionRecord): HostSession {
    const session = this.#register({ dir: join(this.#deps.folder, record.session_id), record });
    const key = keyOf(record.labels, record.parent_session_id);
    if (key !== undefined) this.#byKey.set(key, Promise.resolve(session));
    return session;
  }

  /** Throws when the files cannot be removed now, for want of descriptors: then it is still there, to be removed again. */
  #remove(session: HostSession, reason: RemovalReason): void {
    session.dispose();
    this.#removeFiles(session);
    this.#forget(session, reason);
  }

  #removeFiles({ dir, id }: HostSession): void {
    this.#deps.secrets?.remove(id);
    removeDir(dir);
  }

  /** Whose connection is used inside of a session, which has its secret from now on. */
  #bind(node: TreeNode): string | undefined {
    const bound = this.#findBound(node);
    if (bound !== undefined) this.#deps.secrets?.give(bound);
    return bound;
  }

  #findBound(node: TreeNode): string | undefined {
    if (this.#deps.secrets === undefined) return undefined;
    return findBound(node, (sessionId) => this.find(sessionId)?.record);
  }

  #forget(session: HostSession, reason: RemovalReason): void {
    this.#sessions.delete(session.id);
    const { labels, parent_session_id } = session.record;
    const key = keyOf(labels, parent_session_id);
    if (key !== undefined) this.#byKey.delete(key);
    this.removals.emit({ session_id: session.id, parent_session_id, reason });
    // Also to those who watch it: it will not change any more.
    session.changes.emit();
  }

  #tryTo(remove: () => void, { id }: HostSession): void {
    try {
      remove();
    } catch (error) {
      this.#deps.log.warn("a session could not be removed", { session_id: id, error });
    }
  }

  /** Of one that another host started, what its record knows; else its own tree. */
  async #endLastLife(session: HostSession): Promise<void> {
    if (session.isRecovered) await this.#deps.spawner.endLeftovers([leftoverOf(session.record)]);
    else await session.endLastLife();
  }

  get #keep(): RetentionLimits {
    return this.#deps.keep ?? KEEP;
  }

  #sweepSoon(): void {
    if (this.#sessions.size > this.#keep.kept_count) this.#sweepNow();
  }

  #sweepNow(): void {
    this.#sweep?.[Symbol.dispose]();
    // What has ended by a shutdown is the next host's to sweep.
    if (this.isShuttingDown) return;
    // Before anything is removed: a sweep that fails is not the last one.
    this.#sweep = this.#deps.clock.timer(SWEEP_EVERY_MS, () => this.#sweepNow());
    const expired = chooseExpired(
      this.all().flatMap(describeEnded),
      this.#deps.clock.now(),
      this.#keep,
    );
    for (const sessionId of expired) {
      const session = this.find(sessionId);
      if (session !== undefined) this.#tryTo(() => this.#remove(session, "retention"), session);
    }
  }
}

function describeEnded(session: HostSession) {
  const { state, exited_at, session_id } = session.record;
  if (!isFinal({ state }) || exited_at === null || session.isReviving) return [];
  return [{ session_id, ended_at: Date.parse(exited_at), bytes: session.diskBytes }];
}

/** Two callers may choose the same key without meeting each other's sessions. */
function keyOf(
  { idempotency_key: key, workspace_id, owner }: Readonly<Record<string, string>>,
  parent: string | null = null,
): string | undefined {
  return key === undefined ? undefined : [workspace_id, owner, parent, key].join("\0");
}

export function sessionNotFound(sessionId: string): Fault {
  return new Fault("session_not_found", `there is no session ${sessionId}`, {
    details: { session_id: sessionId },
  });
}

function shuttingDown(): Fault {
  return new Fault("shutting_down", "the host is shutting down and starts nothing more");
}
