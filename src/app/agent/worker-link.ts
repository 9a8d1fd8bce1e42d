import { addAbortListener } from "node:events";
import { type EventLine, followEventLines, isReply } from "#app/read/event-lines.ts";
import type { Clock } from "#base/clock.ts";
import { randomId } from "#base/random-id.ts";
import { asFault, Fault, fromFaultBody } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type {
  WorkerInput,
  WorkerOutput,
  WorkerReply,
  WorkerRequestType,
} from "#contract/operations/worker-requests.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";
import { typeLine } from "./type-line.ts";

export interface WorkerRequest<T extends WorkerRequestType> {
  readonly session_id: string;
  readonly type: T;
  readonly input: WorkerInput<T>;
  /** Stops the waiting; the worker does what it was asked all the same. */
  readonly signal?: AbortSignal | undefined;
}

export interface WorkerLinkDeps {
  readonly hosts: SessionHosts;
  readonly clock: Clock;
}

/** A summary is a model's answer to all that was said. */
const SUMMARIZE_MS = 10 * limits.agent_reply_ms;
/** Of the id of a worker's first line: whoever reads the log knows by its answer that a life can be asked. */
export const INIT_PREFIX = "init";

interface Waiting {
  readonly resolve: (reply: WorkerReply) => void;
  readonly reject: (fault: Fault) => void;
  /** The end of a life before this was over when we asked. */
  readonly from: number;
}

interface Reader {
  readonly handle: Promise<SessionHandle>;
  readonly waiting: Map<string, Waiting>;
  readonly idle: AbortController;
  users: number;
  /** Lines go one behind the other. */
  typing: Promise<unknown>;
  /** Why it reads no more. */
  ended: Fault | undefined;
}

/**
 * Asks the worker of a session, and hears its answer out of the session's events log:
 *
 *   note the tail → type `{id, type, …}` → read on from the tail → `reply {id, …}`
 *
 * All who ask the same session at the same time share one reader.
 */
export class WorkerLink {
  readonly #deps: WorkerLinkDeps;
  readonly #readers = new Map<string, Reader>();

  constructor(deps: WorkerLinkDeps) {
    this.#deps = deps;
  }

  /** Sessions whose worker is waited for. */
  get size(): number {
    return this.#readers.size;
  }

  async ask<T extends WorkerRequestType>(request: WorkerRequest<T>): Promise<WorkerOutput<T>> {
    const { session_id, type, input, signal } = request;
    signal?.throwIfAborted();
    const id = randomId(type === "init" ? INIT_PREFIX : "req");
    const ending = new AbortController();
    const longest = type === "summarize" ? SUMMARIZE_MS : limits.agent_reply_ms;
    using _timer = this.#deps.clock.timer(longest, () => ending.abort(tooLate(type, longest)));
    using _abort =
      signal === undefined
        ? undefined
        : addAbortListener(signal, () => ending.abort(signal.reason));
    const reader = this.#enter(session_id);
    try {
      const reply = await this.#exchange(reader, {
        ...{ id, session_id, signal: ending.signal },
        text: `${JSON.stringify({ ...input, id, type })}\n`,
      });
      if (reply.error !== undefined) throw fromFaultBody(reply.error);
      // A worker of ours answers as the table of requests says.
      return reply.result as WorkerOutput<T>;
    } finally {
      reader.waiting.delete(id);
      this.#leave(session_id, reader);
    }
  }

  async #exchange(reader: Reader, line: AskedLine): Promise<WorkerReply> {
    const { promise, resolve, reject } = Promise.withResolvers<WorkerReply>();
    using _abort = addAbortListener(line.signal, () => reject(line.signal.reason));
    // Whoever types hears of it first; then nobody may be waiting here yet.
    promise.catch(() => undefined);
    const handle = await reader.handle;
    if (reader.ended !== undefined) throw reader.ended;
    reader.waiting.set(line.id, { resolve, reject, from: handle.events.tail() });
    const typing = reader.typing.then(() => typeLine(this.#deps, line));
    reader.typing = typing.catch(() => undefined);
    await Promise.race([typing, promise]);
    return await promise;
  }

  #enter(sessionId: string): Reader {
    const known = this.#readers.get(sessionId);
    const reader: Reader = known ?? {
      handle: this.#deps.hosts.of(sessionId).open(sessionId),
      waiting: new Map(),
      idle: new AbortController(),
      users: 0,
      typing: Promise.resolve(),
      ended: undefined,
    };
    reader.users += 1;
    if (known === undefined) {
      this.#readers.set(sessionId, reader);
      void this.#read(sessionId, reader);
    }
    return reader;
  }

  #leave(sessionId: string, reader: Reader): void {
    reader.users -= 1;
    if (reader.users > 0) return;
    this.#forget(sessionId, reader);
    reader.idle.abort();
  }

  #forget(sessionId: string, reader: Reader): void {
    if (this.#readers.get(sessionId) === reader) this.#readers.delete(sessionId);
  }

  async #read(sessionId: string, reader: Reader): Promise<void> {
    try {
      using handle = await reader.handle;
      const lines = followEventLines(handle, handle.eventsTail, reader.idle.signal);
      for await (const line of lines) hear(reader, line);
      reader.ended = hostGone();
    } catch (error) {
      reader.ended = asFault(error);
    }
    this.#forget(sessionId, reader);
    for (const { reject } of reader.waiting.values()) reject(reader.ended);
  }
}

interface AskedLine {
  readonly id: string;
  readonly session_id: string;
  readonly text: string;
  readonly signal: AbortSignal;
}

function hear({ waiting }: Reader, { value, end }: EventLine): void {
  if (isReply(value)) {
    // A line of this type is the worker's answer.
    const reply = value as WorkerReply;
    waiting.get(reply.id)?.resolve(reply);
    return;
  }
  if (value?.type !== "session.exited" && value?.type !== "session.resumed") return;
  for (const { from, reject } of waiting.values()) if (from < end) reject(workerEnded());
}

/** The worker ended first; whether it has done what it was asked, its log tells the next one. */
export function isWorkerEnded(error: unknown): boolean {
  return error instanceof Fault && error.details.worker_ended === true;
}

function workerEnded(): Fault {
  return new Fault("already_exited", "the agent's worker ended before it answered", {
    details: { worker_ended: true },
  });
}

function tooLate(type: string, ms: number): Fault {
  return new Fault(
    "host_unavailable",
    `the agent's worker has not answered to ${type} within ${ms / 1000} s; it may still do it`,
    { details: { limit_ms: ms } },
  );
}

function hostGone(): Fault {
  return new Fault("host_unavailable", "the host has gone away before the agent answered");
}
