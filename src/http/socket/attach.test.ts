import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { Gateway } from "#app/gateway.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { AttachQuery } from "#contract/operations/reading.ts";
import type { ScreenState } from "#contract/operations/screen.ts";
import { RequestCounts } from "#http/metrics.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openWrittenSession, WRITTEN_SESSION } from "#test/harness/written-session.ts";
import { planAttach } from "./attach.ts";

/** Both ends of a socket. */
async function openPair() {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const accepted = once(server, "connection");
  // A TCP server that listens has an address of this form.
  const { port } = server.address() as { readonly port: number };
  const client = new WebSocket(`ws://127.0.0.1:${port}`);
  const [near] = (await accepted) as [WebSocket];
  await once(client, "open");
  return { near, client, [Symbol.dispose]: () => server.close() };
}

test("a client that leaves while its screen is painted is followed by nobody", async () => {
  using session = openWrittenSession();
  const painted = Promise.withResolvers<ScreenState>();
  const asked = Promise.withResolvers<void>();
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const counts = new RequestCounts();
  // All that an attached viewer asks of a gateway.
  const gateway = {
    hosts: session.hosts,
    audit: { record: () => undefined },
    screens: {
      state: () => {
        asked.resolve();
        return painted.promise;
      },
    },
  } as unknown as Gateway;
  const outbox = { clock: new ManualClock(), counts, onError };
  const query = AttachQuery.parse({ session_id: WRITTEN_SESSION, paint: true });
  const plan = await planAttach({ gateway, outbox, onError }, createTestCaller(), {
    ...query,
    offered: [],
  });
  using pair = await openPair();
  plan.open({ socket: pair.near, protocol: "", visit: { isValid: () => true } });
  await asked.promise;
  pair.client.terminate();
  await waitFor("it is seen to have left", () => counts.sockets === 0);
  painted.resolve({ state: "", offset: 0, cols: 80, rows: 24, exact: true });
  await setImmediate();
  expect(errors).toEqual([]);
});
