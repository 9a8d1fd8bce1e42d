import { once } from "node:events";
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, Socket } from "node:net";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { HandedConnection, HandedServer } from "#host/session/hand-over.ts";
import { Connection, type ConnectionDeps } from "./connection.ts";
import { descriptorOf } from "./descriptor-of.ts";
import type { HostUpgrade } from "./methods.ts";

export interface HostServer extends AsyncDisposable {
  readonly connections: number;
  /** Requests that are not answered yet. */
  readonly inFlight: number;
  /** Whether answers wait for clients that do not read. */
  readonly hasUnsent: boolean;
  /** Cuts those: they come back by themselves. */
  cutUnsent(): void;
  /** Cuts connections with named attachments, which an older program does not know: they come back. False if there is none. */
  cutNumbered(): boolean;
  /** What another program needs to go on with it; changes nothing. */
  handOver(): HandedServer;
}

export interface HostServerDeps extends ConnectionDeps {
  readonly onConnections: (count: number) => void;
  /** The socket and the clients of the program before us. */
  readonly inherited?:
    | { readonly server: HandedServer; readonly outcome: HostUpgrade | Fault }
    | undefined;
}

/**
 * Listens on the host's socket, 0600. Only for the holder of the host's lock: a socket that lies there was left by
 * a host that died, and can be removed without a race.
 */
export async function openHostServer(path: string, deps: HostServerDeps): Promise<HostServer> {
  const connections = new Set<Connection>();
  const inherited = deps.inherited?.server.connections ?? [];
  const numbers = { last: Math.max(0, ...inherited.map(({ serial }) => serial)) };
  const add = (socket: Socket) => {
    const connection = new Connection(socket, deps, numbers);
    connections.add(connection);
    deps.onConnections(connections.size);
    socket.on("close", () => {
      connections.delete(connection);
      deps.onConnections(connections.size);
    });
    return connection;
  };
  const server = createServer((socket) => {
    if (connections.size >= limits.host_connections) socket.destroy();
    else add(socket).greet();
  });
  await listen(server, path, deps.inherited?.server);
  for (const handed of inherited) adopt(handed, deps, add);
  const unsent = () => [...connections].filter((connection) => connection.hasUnsent);
  return {
    get connections() {
      return connections.size;
    },
    get inFlight() {
      return [...connections].reduce((count, connection) => count + connection.inFlight, 0);
    },
    get hasUnsent() {
      return unsent().length > 0;
    },
    cutUnsent() {
      for (const connection of unsent()) connection.destroy();
    },
    cutNumbered() {
      const numbered = [...connections].filter((connection) => connection.isNumbered);
      for (const connection of numbered) connection.destroy();
      return numbered.length > 0;
    },
    handOver: () => ({
      listener: getDescriptor(server),
      connections: [...connections].flatMap((connection) => connection.handOver() ?? []),
    }),
    [Symbol.asyncDispose]: () => close(server, connections),
  };
}

/** On the socket that the program before us listened on, where connections may be waiting; else on one of our own. */
async function listen(
  server: Server,
  path: string,
  inherited: HandedServer | undefined,
): Promise<void> {
  if (inherited === undefined) rmSync(path, { force: true });
  server.listen(inherited === undefined ? { path } : { fd: inherited.listener });
  await once(server, "listening");
  // An inherited one has its mode, and somebody may have removed its name: its clients are there all the same.
  if (inherited === undefined) chmodSync(path, 0o600);
}

function adopt(
  handed: HandedConnection,
  { sessions, log, inherited }: HostServerDeps,
  add: (socket: Socket) => Connection,
): void {
  try {
    const socket = new Socket({ fd: handed.fd, readable: true, writable: true });
    if (inherited !== undefined) add(socket).adopt(handed, inherited.outcome);
  } catch (error) {
    log.error("a client could not be taken over", { error });
    for (const { session_id, viewer } of handed.attachments)
      sessions.find(session_id)?.audience.detach(viewer);
  }
}

function getDescriptor(server: Server): number {
  const fd = descriptorOf(server);
  if (fd === undefined) throw new Fault("internal", "the host's socket has no descriptor");
  return fd;
}

async function close(server: Server, connections: ReadonlySet<Connection>): Promise<void> {
  const closed = once(server, "close");
  server.close();
  for (const connection of connections) connection.end();
  // Whoever does not hang up by itself is cut: it can come back to the next host.
  setImmediate(() => {
    for (const connection of connections) connection.destroy();
  });
  await closed;
}
