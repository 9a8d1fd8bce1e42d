import { channels } from "#contract/channels.ts";
import { Fault } from "#contract/fault.ts";
import { Session } from "#contract/session.ts";
import type { SessionState } from "#contract/session-state.ts";
import { InputCounters } from "#host/input-counters.ts";
import { Watch } from "#host/socket/watch.ts";
import { onlyHost } from "#session/local-host.ts";
import { ResizeTrack } from "#session/resize-track.ts";
import type {
  AttachRequest,
  HostAttachment,
  HostCall,
  HostListener,
  SessionHost,
  SessionHosts,
} from "#session/session-host.ts";
import { createHandle } from "#session/shared-sessions.ts";
import { MemoryLog } from "./memory-log.ts";

interface FakeSession {
  session: Session;
  readonly output: MemoryLog;
  readonly events: MemoryLog;
  readonly watches: Set<Watch>;
  readonly sizes: ResizeTrack;
  generation: number;
  /** The name of the attachment that holds control. */
  holder: string | undefined;
  readonly inputs: InputCounters;
}

interface Numbered {
  readonly number?: number | undefined;
  readonly generation: number;
}

type Params = Readonly<Record<string, unknown>>;

/** A host in memory, for unit tests: its sessions print what is typed into them, and do what the test says. */
export class FakeHost implements SessionHost {
  readonly #sessions = new Map<string, FakeSession>();
  readonly #listeners = new Set<HostListener>();
  #connection = 0;
  state: SessionHost["state"] = "idle";
  /** The requests so far, in order. */
  readonly asked: HostCall[] = [];

  get hosts(): SessionHosts {
    return onlyHost(this);
  }

  get followed(): number {
    return [...this.#sessions.values()].filter(({ watches }) => watches.size > 0).length;
  }

  add(overrides: Partial<Session> = {}): string {
    const number = String(this.#sessions.size + 1).padStart(16, "0");
    const session = Session.parse({ ...BLANK, session_id: `ses_${number}`, ...overrides });
    const [output, events] = [new MemoryLog(), new MemoryLog()];
    const sizes = new ResizeTrack(session.mode === "pty" ? events : undefined);
    const { session_id } = session;
    this.#sessions.set(session_id, {
      ...{ session, output, events, sizes, watches: new Set<Watch>(), generation: 0 },
      ...{ holder: undefined, inputs: new InputCounters() },
    });
    const { cols, rows } = session;
    this.note(session_id, { type: "session.opened", cols, rows });
    return session_id;
  }

  print(sessionId: string, text: string | Uint8Array): void {
    const found = this.#get(sessionId);
    found.output.append(channels.stdout, Buffer.from(text));
    this.#moved(found);
  }

  note(sessionId: string, event: Readonly<Record<string, unknown>>): void {
    const found = this.#get(sessionId);
    found.events.append(channels.events, Buffer.from(`${JSON.stringify(event)}\n`));
    this.#moved(found);
  }

  enter(sessionId: string, state: SessionState): void {
    this.#change(this.#get(sessionId), { state });
  }

  remove(sessionId: string): void {
    const { watches } = this.#get(sessionId);
    this.#sessions.delete(sessionId);
    for (const watch of watches) watch.onClosed();
    for (const listener of this.#listeners) listener.changed(sessionId, null, undefined);
  }

  /** Every connection ends; another is opened in the next turn while something needs it. */
  cut(): void {
    if (this.state !== "open") return;
    this.state = "unreachable";
    this.#connection += 1;
    for (const { watches } of this.#sessions.values()) for (const watch of watches) watch.onLost();
    const isNeeded = [...this.#listeners].some((listener) => listener.isNeeded());
    if (this.followed > 0 || isNeeded) setImmediate(() => void this.connect());
  }

  async connect(): Promise<void> {
    if (this.state === "open") return;
    this.state = "open";
    for (const found of this.#sessions.values())
      for (const watch of found.watches) watch.onReopened(newest(found), () => undefined);
    for (const listener of this.#listeners) listener.connected();
  }

  call: SessionHost["call"] = async (method, params) => {
    await this.connect();
    this.asked.push(method);
    const answer = this.#answers[method];
    if (answer === undefined) throw new Fault("unsupported", `the fake does not know ${method}`);
    // Each answer gives what the table of methods says of its method.
    return answer((params ?? {}) as Params) as never;
  };

  knows: SessionHost["knows"] = async () => true;

  health: SessionHost["health"] = async () => undefined;

  open: SessionHost["open"] = async (sessionId) => {
    await this.connect();
    const found = this.#get(sessionId);
    const { output, events, sizes, watches } = found;
    const watch = new Watch(newest(found), () => void watches.delete(watch));
    watches.add(watch);
    return createHandle({ watch, output, events, sizes, folder: "/" }, () =>
      watch[Symbol.dispose](),
    );
  };

  find: SessionHost["find"] = (sessionId) => {
    const found = this.#sessions.get(sessionId);
    return found === undefined || found.watches.size === 0 ? undefined : newest(found);
  };

  attach: SessionHost["attach"] = async (request) => {
    await this.connect();
    const found = this.#get(request.session_id);
    if (request.role === "controller") this.#take(found, request);
    return this.#createAttachment(found, request);
  };

  watchAll(listener: HostListener): Disposable {
    this.#listeners.add(listener);
    if (this.state === "open") listener.connected();
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  readonly #answers: Partial<Record<HostCall, (params: Params) => unknown>> = {
    "session.get": ({ session_id }) => newest(this.#get(session_id)),
    "session.list": () => ({ sessions: [...this.#sessions.values()].map(newest), cursor: null }),
    "session.labels": () => ({ labels: {} }),
    "session.rename": ({ session_id, title }) =>
      this.#change(this.#get(session_id), { title: String(title) }),
    "session.input": ({ session_id, data_b64 = "" }) => {
      this.print(String(session_id), Buffer.from(String(data_b64), "base64"));
      return {};
    },
    "session.close": ({ session_id, purge }) => {
      const found = this.#get(session_id);
      const state = {
        kind: "exited",
        exit_code: 0,
        signal: null,
        reason: "user_requested",
      } as const;
      const closed = this.#change(found, {
        state: { ...state, tail: found.output.tail(), final: true },
      });
      if (purge === true) this.remove(String(session_id));
      return closed;
    },
  };

  #createAttachment(found: FakeSession, request: AttachRequest): HostAttachment {
    const connection = this.#connection;
    const { session_id, viewer, name } = request;
    const check = (generation?: number) => {
      if (connection !== this.#connection) throw new Fault("host_unavailable", "the host has gone");
      if (generation !== undefined && generation !== found.session.controller?.generation)
        throw notController();
    };
    const enter = (input: Numbered, apply: () => void) => {
      const { number } = input;
      const numbered =
        name === undefined || number === undefined ? undefined : { attachment: name, number };
      check();
      if (numbered !== undefined && found.inputs.isApplied(numbered)) return;
      check(input.generation);
      if (numbered !== undefined) found.inputs.check(numbered);
      apply();
      if (numbered !== undefined) found.inputs.applied(numbered);
    };
    const isHeld = () => found.session.controller?.holder === viewer;
    const release = async () => {
      check();
      if (isHeld()) this.#change(found, { controller: null });
    };
    return {
      session: newest(found),
      generation: request.role === "controller" ? found.generation : undefined,
      applied: name === undefined ? undefined : found.inputs.enter(name),
      type: async ({ bytes, ...input }) => enter(input, () => this.print(session_id, bytes)),
      eof: async (input) => enter(input, () => undefined),
      resize: async ({ cols, rows, generation }) => {
        check(generation);
        this.#change(found, { cols, rows });
        this.note(session_id, { type: "session.resized", offset: found.output.tail(), cols, rows });
      },
      take: async ({ takeover }) => {
        check();
        this.#take(found, { viewer, takeover, name });
        return found.generation;
      },
      renew: async () => {
        check();
        return isHeld();
      },
      release,
      detach: release,
    };
  }

  #take(found: FakeSession, by: Omit<AttachRequest, "session_id" | "role">): void {
    const isOwn = by.name !== undefined && by.name === found.holder;
    if (found.session.controller !== null && !by.takeover && !isOwn) throw notController();
    found.generation += 1;
    found.holder = by.name;
    this.#change(found, { controller: { holder: by.viewer, generation: found.generation } });
  }

  #change(found: FakeSession, changes: Partial<Session>): Session {
    found.session = { ...found.session, ...changes };
    const session = newest(found);
    if (this.state !== "open") return session;
    for (const watch of found.watches) watch.onSession(session);
    for (const listener of this.#listeners)
      listener.changed(session.session_id, session, undefined);
    return session;
  }

  #moved(found: FakeSession): void {
    if (this.state !== "open") return;
    const [tail, events_tail] = [found.output.tail(), found.events.tail()];
    for (const watch of found.watches) watch.onTail({ watch: 0, tail, events_tail });
  }

  #get(sessionId: unknown): FakeSession {
    const found = this.#sessions.get(String(sessionId));
    if (found !== undefined) return found;
    throw new Fault("session_not_found", `there is no session ${sessionId}`);
  }
}

function newest({ session, output, events }: FakeSession): Session {
  return { ...session, tail: output.tail(), events_tail: events.tail() };
}

function notController(): Fault {
  return new Fault("not_controller", "another client has control");
}

const AT = "2026-01-01T00:00:00.000Z";
const BLANK = {
  ...{ task_id: null, issue_id: null, user_id: null, parent_session_id: null },
  ...{ kind: "terminal", mode: "pty", state: { kind: "running" }, title: "", name: null },
  ...{ status: "running", needs: [], last_line: "", turn: null, usage: null },
  ...{ host_id: null, unreachable_since: null },
  ...{ workspace_id: "wsp_local", work_dir: "/", shell: null, argv: ["cat"], pid: 1 },
  ...{ cols: 80, rows: 24, tail: 0, first_offset: 0, events_tail: 0, controller: null, viewers: 0 },
  ...{ created_at: AT, last_io_at: AT, exited_at: null },
};
