import { expect, test } from "vitest";
import { openTerminals, type TerminalsOptions } from "./terminals.ts";
import { createFakeSockets } from "./testing/fake-sockets.ts";
import { createTransport } from "./transport.ts";

const task = { task_id: "tsk_a", workspace_id: "wsp_a" };

test("requests wait for the handshake and are answered by their id", async () => {
  await using at = open();
  const first = at.terminals.open(task);
  const second = at.terminals.attach({ session_id: "ses_b", since: 5 });
  expect(at.socket.sent).toEqual([]);
  at.socket.open();
  const [one, two] = await at.sent(2);
  expect(one).toMatchObject({ type: "terminal.open", payload: task });
  const attached = { session_id: "ses_b", offset: 5, tail: 9, role: "viewer" };
  at.say("terminal.attached", { request_id: two?.payload.request_id, ...attached });
  at.say("terminal.error", {
    request_id: one?.payload.request_id,
    code: "task_not_found",
    message: "none",
  });
  expect(await second).toMatchObject(attached);
  await expect(first).rejects.toMatchObject({ code: "task_not_found", message: "none" });
});

test("events come flat, and bytes as bytes", async () => {
  await using at = open();
  at.socket.open();
  at.say("terminal.data", { session_id: "ses_a", offset: 3, data_b64: "aGk=" });
  at.say("of.tomorrow", {});
  at.say("terminal.error", { session_id: "ses_a", code: "not_controller", message: "no" });
  at.socket.end(1012, "restarting");
  expect(await Array.fromAsync(at.terminals)).toEqual([
    {
      type: "terminal.data",
      session_id: "ses_a",
      offset: 3,
      bytes: new TextEncoder().encode("hi"),
    },
    { type: "terminal.error", session_id: "ses_a", code: "not_controller", message: "no" },
    { type: "lost", code: 1012, reason: "restarting" },
  ]);
});

test("a connection that ends refuses what waits and what comes later", async () => {
  await using at = open();
  const early = at.terminals.open(task);
  at.socket.end(1006);
  await expect(early).rejects.toMatchObject({ code: "host_unavailable" });
  await expect(at.terminals.open(task)).rejects.toMatchObject({ code: "host_unavailable" });
  expect(() => at.terminals.write("ses_a", "x")).toThrow(/not open/);
});

test("what is typed is cut into pieces that have ids of their own, and is bounded", async () => {
  await using at = open();
  at.socket.open();
  at.terminals.write("ses_a", new Uint8Array(100_000), { input_id: "i" });
  expect(at.socket.sent.map((frame) => payloadOf(frame).input_id)).toEqual(["i", "i.1", "i.2"]);
  at.socket.bufferedAmount = 4 * 1024 * 1024;
  expect(() => at.terminals.write("ses_a", "x")).toThrow(
    expect.objectContaining({ code: "queue_full" }),
  );
});

test("a reader that is behind, an abort and nonsense each end the connection", async () => {
  const behind = open({ queueBytes: 1000 });
  behind.socket.open();
  for (let offset = 0; offset < 10; offset += 1)
    behind.say("terminal.data", { session_id: "ses_a", offset, data_b64: "aGk=" });
  const ending = new AbortController();
  const aborted = open({ signal: ending.signal });
  ending.abort();
  const badData = { session_id: "ses_a", offset: 0, data_b64: "?" };
  const nonsense = [
    "no JSON",
    JSON.stringify({ type: "terminal.exit", payload: null }),
    JSON.stringify({ type: "terminal.data", payload: badData }),
    JSON.stringify({ type: "terminal.data", payload: {} }),
  ].map((message) => {
    const opened = open();
    opened.socket.sayRaw(message);
    return opened;
  });
  for (const { terminals, socket } of [behind, aborted, ...nonsense]) {
    expect((await Array.fromAsync(terminals)).at(-1)).toMatchObject({ type: "lost" });
    expect(socket.readyState).toBe(3);
  }
});

function open(options: TerminalsOptions = {}) {
  const { WebSocket, opened } = createFakeSockets();
  const terminals = openTerminals(createTransport({ url: "http://localhost", WebSocket }), options);
  const [socket] = opened;
  if (socket === undefined) throw new Error("no socket was opened");
  return {
    terminals,
    socket,
    say: (type: string, payload: object) => socket.say({ type, payload }),
    sent: async (count: number) => {
      // What waits for the handshake goes one turn later.
      await Promise.resolve();
      expect(socket.sent).toHaveLength(count);
      return socket.sent.map((frame) => ({ type: frame.type, payload: payloadOf(frame) }));
    },
    [Symbol.asyncDispose]: () => terminals[Symbol.asyncDispose](),
  };
}

function payloadOf(frame: Record<string, unknown>): Record<string, unknown> {
  // Every frame of a terminal has one.
  return frame.payload as Record<string, unknown>;
}
