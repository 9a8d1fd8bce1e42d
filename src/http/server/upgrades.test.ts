import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { expect, test } from "vitest";
import type { Gateway } from "#app/gateway.ts";
import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { Fault } from "#contract/fault.ts";
import { FailedLogins } from "#http/failed-logins.ts";
import { OpenVisits } from "#http/open-visits.ts";
import { createOrigins } from "#http/origins.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { type SocketRoute, Upgrades } from "./upgrades.ts";

interface Opened extends AsyncDisposable {
  readonly upgrades: Upgrades;
  /** A client's end, which has asked for the upgrade. */
  ask(): Socket;
  /** The server's end of the next one who asks. */
  readonly accepted: Promise<Duplex>;
}

/** A server whose one socket is planned as the test says. */
async function openUpgrades(plan: SocketRoute["plan"]): Promise<Opened> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address of this form.
  const { port } = server.address() as { readonly port: number };
  const clock = new ManualClock();
  const caller = createTestCaller({ token_id: "tok" });
  const upgrades = new Upgrades({
    // All that the door asks of it.
    gateway: { identify: () => caller } as unknown as Gateway,
    origins: createOrigins({ hostname: "127.0.0.1", port, isTls: false }),
    failedLogins: new FailedLogins(clock),
    log: silentLogger,
    visits: new OpenVisits({ gateway: { knows: () => true }, clock, log: silentLogger }),
    routes: [{ pattern: new URLPattern({ pathname: "/ws" }), role: "viewer", plan }],
    nextRequestId: () => "req_1",
  });
  const accepted = Promise.withResolvers<Duplex>();
  server.on("upgrade", (request, socket, head) => {
    accepted.resolve(socket);
    void upgrades.upgrade(request, socket, head);
  });
  const clients: Socket[] = [];
  return {
    upgrades,
    accepted: accepted.promise,
    ask: () => {
      const client = connect(port, "127.0.0.1");
      client.on("error", () => undefined);
      client.write(describeHandshake(port));
      clients.push(client);
      return client;
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function describeHandshake(port: number): string {
  return [
    "GET /ws HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    "Authorization: Bearer token",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "\r\n",
  ].join("\r\n");
}

test("a peer that is gone when it is refused takes nobody along", async () => {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => void uncaught.push(error);
  process.on("uncaughtExceptionMonitor", note);
  using _listening = {
    [Symbol.dispose]: () => void process.off("uncaughtExceptionMonitor", note),
  };
  const arrived = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  await using opened = await openUpgrades(async () => {
    arrived.resolve();
    await gone.promise;
    throw new Fault("too_many", "no more");
  });
  const client = opened.ask();
  await arrived.promise;
  const socket = await opened.accepted;
  // Not by `once` of the package, which would hear errors as well.
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  client.on("close", () => gone.resolve());
  client.resetAndDestroy();
  await closed;
  // An error was met while the refusal was written, and not read before it.
  expect(socket.errored).toMatchObject({ syscall: "write" });
  expect(uncaught).toEqual([]);
});

test("who is planned when the server stops is refused, and nothing of the plan is kept", async () => {
  const arrived = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  let disposed = 0;
  await using opened = await openUpgrades(async () => {
    arrived.resolve();
    await stopped.promise;
    return {
      protocols: [],
      open: () => {
        throw new Error("it was opened");
      },
      [Symbol.dispose]: () => {
        disposed += 1;
      },
    };
  });
  const client = opened.ask();
  await arrived.promise;
  opened.upgrades.stop();
  stopped.resolve();
  const [answer] = (await once(client, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 503 shutting_down\r\n/);
  expect(disposed).toBe(1);
});
