import { readEventLines } from "#app/read/event-lines.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { AgentView } from "./agent-view.ts";

interface Entry {
  readonly view: AgentView;
  /** Readings of one session follow each other. */
  last: Promise<unknown>;
  users: number;
}

interface ViewLimits {
  readonly sessions: number;
  /** Of their logs together: what is kept of a log is less than the log. */
  readonly bytes: number;
}

const VIEWS: ViewLimits = { sessions: 64, bytes: 256 * 1024 * 1024 };

/** What the logs of agents tell, each read once and then on from where it was; the least recently asked for go first. */
export class AgentViews {
  readonly #limits: ViewLimits;
  readonly #entries = new Map<string, Entry>();

  constructor(limits: ViewLimits = VIEWS) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** `use` sees everything up to the tail of this moment, and nothing moves while it looks. */
  async read<T>(handle: SessionHandle, use: (view: AgentView) => T): Promise<T> {
    const entry = this.#touch(handle.session.session_id);
    entry.users += 1;
    const reading = entry.last.then(() => catchUp(entry.view, handle)).then(() => use(entry.view));
    // Whoever comes next waits for it, whatever became of it.
    entry.last = reading.catch(() => undefined);
    try {
      return await reading;
    } finally {
      entry.users -= 1;
      this.#makeRoom();
    }
  }

  #touch(sessionId: string): Entry {
    const entry = this.#entries.get(sessionId) ?? {
      view: new AgentView(sessionId),
      last: Promise.resolve(),
      users: 0,
    };
    this.#entries.delete(sessionId);
    this.#entries.set(sessionId, entry);
    return entry;
  }

  #makeRoom(): void {
    let bytes = 0;
    for (const { view } of this.#entries.values()) bytes += view.next;
    for (const [sessionId, { view, users }] of this.#entries) {
      if (this.#entries.size <= this.#limits.sessions && bytes <= this.#limits.bytes) return;
      if (users > 0) continue;
      this.#entries.delete(sessionId);
      bytes -= view.next;
    }
  }
}

async function catchUp(view: AgentView, handle: SessionHandle): Promise<void> {
  const { events } = handle;
  // The files are never behind the news of them, and a line that is half there waits.
  const to = Math.max(handle.eventsTail, events.tail());
  for await (const line of readEventLines(events, view.next, to)) view.apply(line);
}
