import type { Gateway, GatewayOperations } from "#app/gateway.ts";
import { sessionNotFound } from "#app/visible-session.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import type { HostClient } from "#host/socket/client.ts";
import type { HostHealth, HostList, HostMethod, HostMethods } from "#host/socket/methods.ts";

/** The id of the one session that there is; undefined while it is not known yet: then there is none. */
export type OnlyId = () => string | undefined;

type Answers = {
  readonly [M in HostMethod]?: (params: HostMethods[M]["params"]) => Promise<unknown>;
};

/**
 * The host as one session knows it: the others do not exist, and none can be made. Everything above asks the host
 * before it opens a log, so this is the one place where the line is drawn.
 */
export function createOnlyHost(host: HostClient, only: OnlyId): HostClient {
  const check = (sessionId: unknown) => {
    if (sessionId !== only()) throw sessionNotFound(String(sessionId));
  };
  const answers: Answers = {
    "host.health": async () => describeHealth(await host.call("host.health", {})),
    "host.shutdown": refuse,
    "host.upgrade": refuse,
    "session.create": refuse,
    "session.list": (request) => listOnly(host, only(), request),
  };
  const call = async (method: HostMethod, params: HostMethods[HostMethod]["params"]) => {
    // Each answer takes what the table says of its method.
    const answer = answers[method] as ((params: unknown) => Promise<unknown>) | undefined;
    if (answer !== undefined) return await answer(params);
    if (params !== undefined && "session_id" in params) check(params.session_id);
    return await host.call(method, params);
  };
  const replaced: Readonly<Record<PropertyKey, unknown>> = {
    call,
    watch: async (sessionId: string) => {
      check(sessionId);
      return await host.watch(sessionId);
    },
    watchAll: (listener: (sessionId: string, session: Session | null) => void) =>
      host.watchAll((sessionId, session) => {
        if (sessionId === only()) listener(sessionId, session);
      }),
  };
  return new Proxy(host, {
    get: (target, name) => {
      if (Object.hasOwn(replaced, name)) return replaced[name];
      // Private fields are the client's own, so it must be itself that is called.
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** What is about the session; the rest is said to be elsewhere. */
export function createOnlyGateway(gateway: Gateway): Gateway {
  return {
    ...gateway,
    operations: (caller) => keepOwn(gateway.operations(caller)),
    exchangeTicket: () => {
      throw notHere();
    },
  };
}

const OWN = /^(sessions?|agent|caller)\./;

function keepOwn(operations: GatewayOperations): GatewayOperations {
  const kept = Object.entries(operations).map(([name, handler]) => [
    name,
    OWN.test(name) ? handler : refuse,
  ]);
  // The same names, each with its own handler or one that only throws.
  return Object.fromEntries(kept) as GatewayOperations;
}

async function refuse(): Promise<never> {
  throw notHere();
}

function notHere(): Fault {
  return new Fault("unsupported", "this address serves one run alone; reins serve serves all");
}

/** How many others there are is nobody's business here. */
function describeHealth(health: HostHealth): HostHealth {
  return { ...health, sessions: 1, live: 1, connections: 1, unreadable: [] };
}

/** The host filters, by its own rules; its words are searched here once more because its search is used for the id. */
async function listOnly(
  host: HostClient,
  id: string | undefined,
  { q, cursor, limit: _, ...filters }: HostList,
): Promise<HostMethods["session.list"]["result"]> {
  const nothing = { sessions: [], cursor: null, total: 0 };
  // There is one page at most.
  if (id === undefined || cursor !== undefined) return nothing;
  const request = { ...filters, q: id, limit: limits.list_most };
  const { sessions } = await host.call("session.list", request);
  const found = sessions.find((session) => session.session_id === id);
  if (found === undefined || !isAbout(found, q)) return nothing;
  return { sessions: [found], cursor: null, total: 1 };
}

function isAbout({ session_id, title, work_dir, argv }: Session, q = ""): boolean {
  const text = [session_id, title, work_dir, ...argv].join("\n").toLowerCase();
  return text.includes(q.toLowerCase());
}
