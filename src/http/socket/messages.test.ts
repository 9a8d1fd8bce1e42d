import { once } from "node:events";
import { expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { systemClock } from "#base/clock.ts";
import { limits } from "#contract/limits.ts";
import { RequestCounts } from "#http/metrics.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { onMessages } from "./messages.ts";
import { Outbox } from "./outbox.ts";

/** As long as its answer: what one read from the peer brings is answered whole, so that is all that comes on top. */
const QUESTION = "?".repeat(1000);
/** Their answers are far more than what the kernel and we hold of them. */
const QUESTIONS = 40_000;

test("a peer that asks on and does not listen is not read, until it listens", async () => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  using _server = { [Symbol.dispose]: () => void server.close() };
  await once(server, "listening");
  const accepted = once(server, "connection");
  // A TCP server that listens has an address of this form.
  const { port } = server.address() as { readonly port: number };
  const client = new WebSocket(`ws://127.0.0.1:${port}`);
  using _client = { [Symbol.dispose]: () => client.terminate() };
  // The first of what it is emitted with.
  const [near] = (await accepted) as [WebSocket];
  await once(client, "open");
  const onError = (error: unknown) => {
    throw error;
  };
  const outbox = new Outbox(near, { clock: systemClock, counts: new RequestCounts(), onError });
  let asked = 0;
  let mostUnsent = 0;
  onMessages({ socket: near, visit: { isValid: () => true } }, outbox, async () => {
    asked += 1;
    outbox.send(QUESTION);
    mostUnsent = Math.max(mostUnsent, near.bufferedAmount);
  });
  client.pause();
  for (let sent = 0; sent < QUESTIONS; sent += 1) client.send(QUESTION);
  await waitFor("it is not read any more", () => near.isPaused);
  expect(asked).toBeLessThan(QUESTIONS);
  let answered = 0;
  client.on("message", () => {
    answered += 1;
  });
  client.resume();
  await waitFor("every answer", () => answered === QUESTIONS);
  expect(mostUnsent).toBeLessThan(3 * limits.viewer_unsent_bytes);
});
