import { once } from "node:events";
import { chmodSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { limits } from "#contract/limits.ts";
import { Connection, type ConnectionDeps } from "./connection.ts";

export interface HostServer extends AsyncDisposable {
  readonly connections: number;
}

export interface HostServerDeps extends ConnectionDeps {
  readonly onConnections: (count: number) => void;
}

/**
 * Listens on the host's socket, 0600. Only for the holder of the host's lock: a socket that lies there was left by
 * a host that died, and can be removed without a race.
 */
export async function openHostServer(path: string, deps: HostServerDeps): Promise<HostServer> {
  const connections = new Set<Connection>();
  const server = createServer((socket) => {
    if (connections.size >= limits.host_connections) {
      socket.destroy();
      return;
    }
    const connection = new Connection(socket, deps);
    connections.add(connection);
    deps.onConnections(connections.size);
    socket.on("close", () => {
      connections.delete(connection);
      deps.onConnections(connections.size);
    });
  });
  rmSync(path, { force: true });
  server.listen(path);
  await once(server, "listening");
  chmodSync(path, 0o600);
  return {
    get connections() {
      return connections.size;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const connection of connections) connection.end();
      // Whoever does not hang up by itself is cut: it can come back to the next host.
      setImmediate(() => {
        for (const connection of connections) connection.destroy();
      });
      await closed;
    },
  };
}
