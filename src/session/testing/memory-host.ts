import { connect } from "node:net";
import { join } from "node:path";
import { type Clock, systemClock } from "#base/clock.ts";
import { silentLogger } from "#base/logger.ts";
import { Fault } from "#contract/fault.ts";
import { openHostClient } from "#host/socket/client.ts";
import type { HostHealth } from "#host/socket/methods.ts";
import { openHostServer } from "#host/socket/server.ts";
import { openTestSessions } from "#host/testing/open-test-sessions.ts";
import { openLocalHosts } from "#session/local-host.ts";
import type { SessionHosts } from "#session/session-host.ts";
import { createMemoryPair, type MemoryPair, type PairOptions } from "./memory-pair.ts";

export interface MemoryHost extends AsyncDisposable {
  readonly hosts: SessionHosts;
  /** The session prints its input. */
  readonly sessionId: string;
  print(text: string): Promise<void>;
  exit(): Promise<void>;
  remove(): Promise<void>;
  /** All input of the session so far. */
  typed(): string;
  /** Ends the connection to the host. */
  cut(): void;
  /** The same, and the last message of the host is lost. */
  loseLast(): void;
}

/** Time that passes at once: nothing here claims how long a pause is. */
const quick: Clock = { ...systemClock, timer: (_, run) => systemClock.timer(1, run) };
export const reconnect = { clock: quick, log: silentLogger };

/** A host's server in this process, and a pair of streams in memory between it and its clients. */
export async function openMemoryHost(
  options: Pick<PairOptions, "random" | "delayMs">,
): Promise<MemoryHost> {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(openTestSessions());
  const path = join(host.folder, "s");
  stack.use(
    await openHostServer(path, {
      sessions: host.sessions,
      log: silentLogger,
      version: "test",
      // Only its shape matters here.
      health: () => ({ pid: 1 }) as HostHealth,
      shutdown: () => undefined,
      upgrade: () => Promise.reject(new Error("not here")),
      onConnections: () => undefined,
    }),
  );
  const pairs: MemoryPair[] = [];
  const hosts = stack.use(
    openLocalHosts({
      open: async () => {
        const pair = createMemoryPair({ clock: systemClock, ...options });
        pairs.push(pair);
        const socket = connect(path);
        socket.on("error", () => pair.cut());
        pair.far.pipe(socket).pipe(pair.far);
        pair.far.on("close", () => socket.destroy());
        const gone = () => new Fault("host_unavailable", "the pair was cut");
        const describeSilence = async () => gone();
        return await openHostClient(pair.near, { describeSilence, describeEnd: gone });
      },
      sessionsFolder: host.folder,
      reconnect,
    }),
  );
  const { session, child } = await host.open({ kind: "command", stdin: true });
  const write = child.write.bind(child);
  child.write = (bytes) => {
    write(bytes);
    child.print(bytes);
  };
  const owned = stack.move();
  return {
    hosts,
    sessionId: session.id,
    print: async (text) => child.print(text),
    exit: async () => child.exit(),
    remove: async () => void (await host.sessions.purge(session.id)),
    typed: () => child.written.toString(),
    cut: () => pairs.at(-1)?.cut(),
    loseLast: () => pairs.at(-1)?.loseLast(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
