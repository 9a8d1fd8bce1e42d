import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import type { HostHealth, HostList, HostMethods } from "#host/socket/methods.ts";
import { onlyHost } from "./local-host.ts";
import type { HostCall, HostListener, SessionHost, SessionHosts } from "./session-host.ts";

/** The id of the one session; undefined until it is known, and until then there is none. */
export type OnlyId = () => string | undefined;

/** Hosts that have one session. The others do not exist, none can be created, and the host itself cannot be ended. */
export function createScopedHosts(hosts: SessionHosts, only: OnlyId): SessionHosts {
  return onlyHost(new ScopedHost(hosts, only));
}

class ScopedHost implements SessionHost {
  readonly #hosts: SessionHosts;
  readonly #only: OnlyId;

  constructor(hosts: SessionHosts, only: OnlyId) {
    this.#hosts = hosts;
    this.#only = only;
  }

  get state() {
    return this.#host.state;
  }

  get followed(): number {
    return this.#host.followed;
  }

  connect(): Promise<void> {
    return this.#host.connect();
  }

  call: SessionHost["call"] = async (method, params) => {
    const answer = this.#answers[method];
    // Each answer takes and gives what the table of methods says of its method.
    if (answer !== undefined)
      return await (answer as SessionHost["call"] & typeof answer)(params as never);
    if (params !== undefined && "session_id" in params) this.#check(params.session_id);
    return await this.#host.call(method, params);
  };

  knows: SessionHost["knows"] = (feature) => this.#host.knows(feature);

  async health(): Promise<HostHealth | undefined> {
    const health = await this.#host.health();
    return health === undefined ? undefined : describeHealth(health);
  }

  open: SessionHost["open"] = async (sessionId) => {
    this.#check(sessionId);
    return await this.#host.open(sessionId);
  };

  find: SessionHost["find"] = (sessionId) =>
    sessionId === this.#only() ? this.#host.find(sessionId) : undefined;

  attach: SessionHost["attach"] = async (request) => {
    this.#check(request.session_id);
    return await this.#host.attach(request);
  };

  watchAll(listener: HostListener): Disposable {
    return this.#host.watchAll({
      isNeeded: () => listener.isNeeded(),
      connected: () => listener.connected(),
      changed: (...change) => {
        if (change[0] === this.#only()) listener.changed(...change);
      },
    });
  }

  /** The host of the session; any, while there is none. */
  get #host(): SessionHost {
    const id = this.#only();
    return id === undefined ? this.#hosts.all()[0] : this.#hosts.of(id);
  }

  readonly #answers: Answers = {
    "host.health": async () => describeHealth(await this.#host.call("host.health", {})),
    "host.shutdown": refuse,
    "host.upgrade": refuse,
    "session.create": refuse,
    "session.list": (request) => this.#list(request),
  };

  #check(sessionId: string): void {
    if (sessionId === this.#only()) return;
    throw new Fault("session_not_found", `there is no session ${sessionId}`, {
      details: { session_id: sessionId },
    });
  }

  /** The host filters by its own rules. Its search is used for the id, so the caller's search is applied here. */
  async #list({ q, cursor, limit: _, ...filters }: HostList): Promise<SessionPage> {
    const id = this.#only();
    const nothing = { sessions: [], cursor: null, total: 0 };
    // There is one page at most.
    if (id === undefined || cursor !== undefined) return nothing;
    const request = { ...filters, q: id, limit: limits.list_most };
    const { sessions } = await this.#host.call("session.list", request);
    const found = sessions.find((session) => session.session_id === id);
    if (found === undefined || !isAbout(found, q)) return nothing;
    return { sessions: [found], cursor: null, total: 1 };
  }
}

type SessionPage = HostMethods["session.list"]["result"];

type Answers = {
  readonly [M in HostCall]?: (
    params: HostMethods[M]["params"],
  ) => Promise<HostMethods[M]["result"]>;
};

async function refuse(): Promise<never> {
  throw new Fault("unsupported", "this address serves one run alone; reins serve serves all");
}

/** The number of other sessions is not shown. */
function describeHealth(health: HostHealth): HostHealth {
  return { ...health, sessions: 1, live: 1, connections: 1, unreadable: [] };
}

function isAbout({ session_id, title, work_dir, argv }: Session, q = ""): boolean {
  const text = [session_id, title, work_dir, ...argv].join("\n").toLowerCase();
  return text.includes(q.toLowerCase());
}
