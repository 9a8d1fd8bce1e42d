import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A way to a gateway that breaks on demand.
 * ```
 *   client ──▶ proxy ──▶ gateway
 *   cut        what has passed arrives, then both ends are closed
 *   reset      the client's end is reset, wherever its frame is
 *   deaf       what the client says arrives, the answers are lost; its connections can only be reset after it
 *   half-open  nothing passes any more, nobody is told; who comes is accepted and hears nothing
 *   delay      everything passes later
 * ```
 */
export interface FlakyProxy extends AsyncDisposable {
  readonly url: string;
  readonly connections: number;
  cut(): number;
  reset(): number;
  /** Until the connections that are open now are reset, their clients hear of nothing that they do. */
  deafen(): void;
  /** Ends the silence for new connections; WebSockets that fell into it stay dead until their client notices. */
  silence(): { end(): void };
  delay(ms: number): { end(): void };
}

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket | undefined;
  isSocket: boolean;
  isSilent: boolean;
  isDeaf: boolean;
  /** What is on its way to one of them. */
  readonly delayed: Map<Socket, Promise<void>>;
}

/** What happens to everything that passes now. */
interface Weather {
  isSilent: boolean;
  delayMs: number;
}

export async function openFlakyProxy(target: () => number): Promise<FlakyProxy> {
  const pairs = new Set<Pair>();
  const weather: Weather = { isSilent: false, delayMs: 0 };
  const server = createServer((client) => {
    const { isSilent } = weather;
    const upstream = isSilent ? undefined : connect(target(), "127.0.0.1");
    const pair: Pair = {
      client,
      upstream,
      isSocket: false,
      isSilent,
      isDeaf: false,
      delayed: new Map(),
    };
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      upstream?.destroy();
    };
    for (const socket of [client, upstream]) socket?.on("error", end).on("close", end);
    if (upstream === undefined) {
      client.resume();
      return;
    }
    client.on("data", (chunk: Buffer) => {
      if (/^upgrade: websocket/im.test(chunk.subarray(0, 4096).toString("latin1")))
        pair.isSocket = true;
      pass({ pair, to: upstream, chunk }, weather);
    });
    upstream.on("data", (chunk: Buffer) => pass({ pair, to: client, chunk }, weather));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    get connections() {
      return pairs.size;
    },
    cut: () => endAll(pairs, ({ client }) => client.end()),
    reset: () => endAll(pairs, ({ client }) => client.resetAndDestroy()),
    deafen: () => {
      for (const pair of pairs) pair.isDeaf = true;
    },
    silence: () => {
      weather.isSilent = true;
      for (const pair of pairs) pair.isSilent = true;
      return {
        end: () => {
          weather.isSilent = false;
          for (const pair of pairs) if (pair.isSilent && !pair.isSocket) pair.client.destroy();
        },
      };
    },
    delay: (ms) => {
      weather.delayMs = ms;
      return {
        end: () => {
          weather.delayMs = 0;
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      for (const { client, upstream } of pairs) {
        client.destroy();
        upstream?.destroy();
      }
      server.close();
      await once(server, "close");
    },
  };
}

interface Passing {
  readonly pair: Pair;
  readonly to: Socket;
  readonly chunk: Buffer;
}

function pass({ pair, to, chunk }: Passing, { delayMs }: Weather): void {
  const from = to === pair.client ? pair.upstream : pair.client;
  const send = () => {
    const isLost = pair.isSilent || (pair.isDeaf && to === pair.client);
    if (isLost || to.destroyed || to.write(chunk)) return;
    // As a real network does: who does not read slows the sender down.
    from?.pause();
    to.once("drain", () => from?.resume());
  };
  const before = pair.delayed.get(to);
  if (delayMs === 0 && before === undefined) {
    send();
    return;
  }
  // Nothing overtakes what was sent before it, also not when the delay has ended.
  const sent = Promise.all([before, sleep(delayMs)]).then(send);
  pair.delayed.set(to, sent);
  void sent.then(() => pair.delayed.get(to) === sent && pair.delayed.delete(to));
}

/** What is still delayed is lost with its connection. */
function endAll(pairs: ReadonlySet<Pair>, end: (pair: Pair) => void): number {
  const all = [...pairs].filter((pair) => !pair.isSilent);
  for (const pair of all) {
    end(pair);
    pair.upstream?.destroy();
  }
  return all.length;
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return address.port;
}
