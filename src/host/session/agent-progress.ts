import type { Clock } from "#base/clock.ts";
import {
  type AgentStatus,
  emptyAgentStatus,
  nameAgentStatus,
  reduceAgentStatus,
} from "#contract/agent/agent-status.ts";
import type { LogFiles } from "#log/log-files.ts";
import { endOf } from "#log/log-source.ts";
import type { RecordKeeper } from "./record-keeper.ts";
import type { KeptStatus } from "./session-record.ts";
import { StatusLines } from "./status-lines.ts";

export interface AgentProgressDeps {
  readonly clock: Clock;
  readonly keeper: RecordKeeper;
  /** Something that others see has changed. */
  readonly changed: () => void;
}

const CHUNK_BYTES = 256 * 1024;
/** At most this much of a log is read for a record that does not hold a status. */
const CATCH_UP_BYTES = 16 * 1024 * 1024;
/** The last line and the usage change with every word; so often they are published and written. */
const PUBLISH_MS = 500;

/**
 * The status of a live agent, from the bytes of its events log. The record keeps it together with how far the log was
 * read, so the next host reads only the lines that came after.
 */
export class AgentProgress implements Disposable {
  readonly #deps: AgentProgressDeps;
  readonly #lines = new StatusLines();
  #publishedAt = Number.NEGATIVE_INFINITY;
  #timer: Disposable | undefined;

  constructor(deps: AgentProgressDeps) {
    this.#deps = deps;
  }

  /** Bytes that were appended to the events log, whose tail is `end` now. */
  push(bytes: Buffer, end: number): void {
    const { keeper } = this.#deps;
    const before = keeper.current.agent_status ?? nothingRead;
    let status: AgentStatus = before;
    this.#lines.push(bytes, (event) => {
      status = reduceAgentStatus(status, event);
    });
    const agent_status = { ...status, read: end - this.#lines.partialBytes };
    const { state } = keeper.current;
    const isUrgent =
      status.needs !== before.needs ||
      nameAgentStatus(state, status) !== nameAgentStatus(state, before);
    if (isUrgent) {
      keeper.update({ agent_status });
      this.#publish();
      return;
    }
    keeper.remember({ agent_status });
    if (status !== before) this.#publishSoon();
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  #publishSoon(): void {
    const { clock, keeper } = this.#deps;
    keeper.writeSoon(PUBLISH_MS);
    if (this.#timer !== undefined) return;
    const wait = this.#publishedAt + PUBLISH_MS - clock.monotonic();
    if (wait <= 0) this.#publish();
    else this.#timer = clock.timer(wait, () => this.#publish());
  }

  #publish(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#publishedAt = this.#deps.clock.monotonic();
    this.#deps.changed();
  }
}

const nothingRead: KeptStatus = { ...emptyAgentStatus, needs: [], queue: [], read: 0 };

/** With the lines that came after the record was written; the whole log, within bounds, for the record of an older host. */
export function catchUp(kept: KeptStatus | undefined, events: LogFiles): KeptStatus {
  const tail = events.tail();
  let status: AgentStatus = kept ?? nothingRead;
  const lines = new StatusLines();
  let next = Math.max(kept?.read ?? 0, events.first(), tail - CATCH_UP_BYTES);
  while (next < tail) {
    const chunk = events.read(next, { limit: CHUNK_BYTES, tail });
    if (chunk === undefined) break;
    next = endOf(chunk);
    if (chunk.kind === "gap") continue;
    lines.push(Buffer.from(chunk.bytes), (event) => {
      status = reduceAgentStatus(status, event);
    });
  }
  return { ...nothingRead, ...status, read: next - lines.partialBytes };
}
