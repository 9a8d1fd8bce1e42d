import { getEventListeners } from "node:events";
import { expect, test, vi } from "vitest";
import { createFakeSockets, type FakeSocket } from "#client/testing/fake-sockets.ts";
import { createTransport } from "#client/transport.ts";
import { Fault } from "#contract/fault.ts";
import type { ServerFrame } from "#contract/frames.ts";
import type { Session } from "#contract/session.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { type AttachOptions, openAttachment } from "./attachment.ts";
import type { AttachEvent } from "./frames.ts";

type Connected = Extract<ServerFrame, { readonly type: "connected" }>;

test("asks for what it was told and goes on at its cursor, without painting twice", async () => {
  await using at = open({ since: "tail", paint: true, role: "controller", takeover: true });
  const first = await at.socket(0);
  expect(first.url.pathname).toBe("/v1/sessions/ses_a/ws");
  expect(Object.fromEntries(first.url.searchParams)).toEqual({
    since: "tail",
    role: "controller",
    takeover: "true",
    paint: "true",
  });
  expect(first.protocols).toEqual({
    protocols: [
      "reins.bin.v3",
      expect.stringMatching(/^reins\.attachment\.[0-9a-f]{32}$/),
      "reins.bin.v2",
      "reins.bin.v1",
    ],
    headers: { Authorization: "Bearer t" },
  });
  first.open();
  first.say(connected({ offset: 50, role: "controller", generation: 3 }));
  first.say({ type: "screen", state: "x", offset: 60 });
  first.print(60, "hello");
  first.end(1006);
  const second = await at.socket(1);
  expect(Object.fromEntries(second.url.searchParams)).toEqual({ since: "65", role: "controller" });
  second.open();
  second.say(connected({ offset: 65, role: "controller", generation: 4 }));
  second.print(63, "lo world");
  second.say({ type: "exit", exit_code: 0, signal: null, reason: "exited", tail: 71 });
  const events = await at.all();
  expect(events.map(({ type }) => type)).toEqual([
    "connected",
    "screen",
    "output",
    "lost",
    "restored",
    "output",
    "exit",
  ]);
  expect(events[5]).toMatchObject({ offset: 65, bytes: new TextEncoder().encode(" world") });
  expect(at.attached.offset).toBe(71);
});

test("paints again when it was cut before the screen", async () => {
  await using at = open({ paint: true });
  const first = await at.socket(0);
  first.say(connected({ offset: 9 }));
  first.end(1006);
  expect((await at.socket(1)).url.searchParams.get("paint")).toBe("true");
});

test("waits longer each time, as long as the server asks, and from the start after a success", async () => {
  await using at = open({});
  for (const index of [0, 1, 2]) (await at.socket(index)).end(1006);
  const back = await at.socket(3);
  expect(at.pauses).toEqual([100, 200, 400]);
  back.say(connected({}));
  back.say({ type: "closing", reason: "shutting_down", retry_after_ms: 750 });
  back.end(1012);
  (await at.socket(4)).end(1006);
  await at.socket(5);
  expect(at.pauses).toEqual([100, 200, 400, 750, 200]);
});

test("says once that it is lost, however often it tries", async () => {
  await using at = open({});
  for (const index of [0, 1, 2]) (await at.socket(index)).end(1006, "gone");
  const back = await at.socket(3);
  back.say(connected({}));
  expect(await at.next(2)).toMatchObject([
    { type: "lost", code: 1006, reason: "gone" },
    { type: "connected" },
  ]);
});

test.each([
  [4401, "unauthenticated"],
  [4403, "forbidden"],
  [4404, "session_not_found"],
  [1009, "payload_too_large"],
])("close code %i is the end: %s", async (code, fault) => {
  await using at = open({});
  const socket = await at.socket(0);
  socket.say(connected({}));
  socket.end(code);
  expect((await at.all()).at(-1)).toMatchObject({ type: "failed", fault: { code: fault } });
  expect(at.sockets).toHaveLength(1);
});

test("with reins.bin.v2 inputs are binary, numbered from 1 on each connection, and keep their ids", async () => {
  await using at = open({ role: "controller" });
  const first = await at.socket(0);
  first.protocol = "reins.bin.v2";
  first.open();
  first.say(connected({ role: "controller", generation: 1 }));
  const buffer = new Uint8Array([0, 255]);
  const typed = [at.attached.write("a", { id: "1" }), at.attached.write(buffer, { id: "2" })];
  const long = at.attached.write("c", { id: "x".repeat(256) });
  void at.attached.write("d", { id: "4" });
  buffer.fill(7);
  expect(first.inputs).toMatchObject([
    { sequence: 1, id: "1", bytes: new Uint8Array([97]) },
    { sequence: 2, id: "2", bytes: new Uint8Array([0, 255]) },
    { sequence: 3, id: "4" },
  ]);
  expect(first.sent).toMatchObject([{ type: "stdin", data: "Yw==", encoding: "base64" }]);
  first.say({ type: "ack", id: "1", sequence: 1 });
  first.say({ type: "ack", id: "x".repeat(256) });
  await Promise.all([typed[0], long]);
  first.end(1006);
  const second = await at.socket(1);
  second.protocol = "reins.bin.v2";
  second.open();
  second.say(connected({ role: "controller", generation: 2 }));
  expect(second.inputs).toMatchObject([
    { sequence: 1, id: "2", bytes: new Uint8Array([0, 255]) },
    { sequence: 2, id: "4" },
  ]);
});

test("a server that knows only reins.bin.v1 gets inputs as JSON", async () => {
  await using at = open({ role: "controller" });
  const socket = await at.socket(0);
  socket.protocol = "reins.bin.v1";
  socket.open();
  socket.say(connected({ role: "controller", generation: 1 }));
  void at.attached.write("a", { id: "1" });
  expect(socket.inputs).toEqual([]);
  expect(socket.sent).toEqual([{ type: "stdin", id: "1", data: "YQ==", encoding: "base64" }]);
});

test("taken over is the end, and what waits is refused", async () => {
  await using at = open({ role: "controller" });
  const socket = await at.socket(0);
  socket.open();
  socket.say(connected({ role: "controller", generation: 1 }));
  const written = at.attached.write("x");
  socket.end(4001);
  expect((await at.all()).at(-1)).toEqual({ type: "taken_over" });
  await expect(written).rejects.toMatchObject({ code: "not_controller" });
  await expect(at.attached.write("y")).rejects.toMatchObject({ code: "not_controller" });
});

test("with stay a client that loses control watches from the same byte and can take control again", async () => {
  await using at = open({ role: "controller", stay: true });
  const first = await at.socket(0);
  first.open();
  first.say(connected({ role: "controller", generation: 1 }));
  first.print(0, "abc");
  const before = at.attached.write("before");
  first.end(4001);
  await expect(before).rejects.toMatchObject({ code: "not_controller" });
  const second = await at.socket(1);
  expect(Object.fromEntries(second.url.searchParams)).toEqual({ since: "3", role: "viewer" });
  second.open();
  second.say(connected({ offset: 3 }));
  void at.attached.take();
  void at.attached.write("after", { id: "after" });
  expect(second.sent.map(({ type }) => type)).toEqual(["control", "stdin"]);
  // What was sent behind the take is not lost with the connection.
  second.end(4001);
  const third = await at.socket(2);
  third.open();
  third.say(connected({ offset: 3 }));
  expect(third.sent.map(({ type }) => type)).toEqual(["control", "stdin"]);
  const types = (await at.next(6)).map(({ type }) => type);
  expect(types).toEqual([
    ...["connected", "output", "taken_over", "restored", "taken_over", "restored"],
  ]);
});

test("a socket that can be paused is not closed when the reader is behind", async () => {
  await using at = open({ queueBytes: 1000 });
  const socket = await at.socket(0);
  const paused: string[] = [];
  const held = Object.assign(socket, {
    pause: () => paused.push("pause"),
    resume: () => paused.push("resume"),
  });
  held.open();
  held.say(connected({}));
  held.print(0, "x".repeat(900));
  held.print(900, "y");
  expect(paused).toContain("pause");
  await at.next(3);
  expect(paused.at(-1)).toBe("resume");
  expect(at.sockets).toHaveLength(1);
});

test.each(["unauthenticated", "forbidden", "session_not_found"] as const)(
  "a handshake that fails because of %s is not tried again",
  async (code) => {
    await using at = open({}, () => {
      throw new Fault(code, "no");
    });
    (await at.socket(0)).end(1006);
    expect((await at.all()).at(-1)).toMatchObject({ type: "failed", fault: { code } });
    expect(at.sockets).toHaveLength(1);
  },
);

test("a handshake that fails behind the end of the output is not tried again", async () => {
  await using at = open({ since: 11 }, () => ({ tail: 10 }));
  (await at.socket(0)).end(1006);
  const last = (await at.all()).at(-1);
  expect(last).toMatchObject({ type: "failed", fault: { code: "offset_out_of_range" } });
});

test("control that another holds is refused at once without takeover", async () => {
  await using at = open({ role: "controller" }, () => ({
    controller: { holder: "ann", generation: 8 },
  }));
  (await at.socket(0)).end(1006);
  const last = (await at.all()).at(-1);
  expect(last).toMatchObject({ type: "failed", fault: { code: "not_controller", message: /ann/ } });
});

test("control that our own cut connection still holds is taken back", async () => {
  await using at = open({ role: "controller" }, () => ({
    controller: { holder: "me", generation: 8 },
  }));
  const first = await at.socket(0);
  first.say(connected({ role: "controller", generation: 8 }));
  first.end(1006);
  const second = await at.socket(1);
  expect(second.url.searchParams.has("takeover")).toBe(false);
  second.end(1006);
  expect((await at.socket(2)).url.searchParams.get("takeover")).toBe("true");
});

test.each(["before", "after"])(
  "so is control that was taken on the way, told %s it was got",
  async (when) => {
    await using at = open({}, () => ({ controller: { holder: "me", generation: 8 } }));
    const first = await at.socket(0);
    first.open();
    first.say(connected({ role: "viewer", generation: null }));
    first.say({ type: "control", holder: "ann", generation: 7 });
    const taking = at.attached.take();
    await waitFor("the question", () => first.sent.length);
    const told = { type: "control", holder: "me", generation: 8 } as const;
    if (when === "before") first.say(told);
    first.say({ type: "ack", id: first.sent[0]?.id ?? "" });
    await taking;
    if (when === "after") first.say(told);
    expect(at.attached.generation).toBe(8);
    first.end(1006);
    (await at.socket(1)).end(1006);
    expect((await at.socket(2)).url.searchParams.get("takeover")).toBe("true");
  },
);

test("what is told of who takes control is not ours when the connection is cut before its end is said", async () => {
  await using at = open({ role: "controller" }, () => ({
    controller: { holder: "ann", generation: 9 },
  }));
  const first = await at.socket(0);
  first.say(connected({ role: "controller", generation: 8 }));
  first.say({ type: "control", holder: "ann", generation: 9 });
  first.end(1006);
  for (let index = 1; index <= 4; index += 1) (await at.socket(index)).end(1006);
  expect((await at.all()).at(-1)).toEqual({ type: "taken_over" });
});

test("control that somebody has taken meanwhile is not taken back", async () => {
  await using at = open({ role: "controller", takeover: true }, () => ({
    controller: { holder: "ann", generation: 9 },
  }));
  const first = await at.socket(0);
  first.say(connected({ role: "controller", generation: 8 }));
  first.end(1006);
  for (let index = 1; index <= 4; index += 1) {
    const socket = await at.socket(index);
    expect(socket.url.searchParams.has("takeover")).toBe(false);
    socket.end(1006);
  }
  expect((await at.all()).at(-1)).toEqual({ type: "taken_over" });
  expect(at.sockets).toHaveLength(5);
});

test("the last size is said again after a cut, and what was typed with the same id", async () => {
  await using at = open({ role: "controller" });
  const first = await at.socket(0);
  first.open();
  first.say(connected({ role: "controller", generation: 1 }));
  void at.attached.resize(100, 40);
  first.say({ type: "ack", id: first.sent[0]?.id ?? "" });
  void at.attached.write("typed");
  first.end(1006);
  const second = await at.socket(1);
  second.open();
  second.say(connected({ role: "controller", generation: 2 }));
  expect(second.sent[0]).toEqual(first.sent[1]);
  expect(second.sent[0]).toMatchObject({ type: "stdin", data: "dHlwZWQ=", encoding: "base64" });
  expect(second.sent[1]).toMatchObject({ type: "resize", cols: 100, rows: 40 });
});

test("a viewer does not say its size again", async () => {
  await using at = open({});
  const first = await at.socket(0);
  first.open();
  first.say(connected({}));
  const resized = at.attached.resize(100, 40);
  first.say({ type: "error", id: first.sent[0]?.id ?? "", code: "not_controller", message: "no" });
  await expect(resized).rejects.toMatchObject({ code: "not_controller" });
  first.end(1006);
  const second = await at.socket(1);
  second.open();
  second.say(connected({}));
  expect(second.sent).toEqual([]);
});

test("a refusal that nobody waits for is an event", async () => {
  await using at = open({ role: "controller" });
  const socket = await at.socket(0);
  socket.open();
  socket.say(connected({ role: "controller", generation: 1 }));
  void at.attached.signal("NOPE");
  const id = socket.sent[0]?.id ?? "";
  socket.say({ type: "error", id, code: "invalid_request", message: "no such signal" });
  expect((await at.next(2))[1]).toMatchObject({
    type: "error",
    id,
    fault: { code: "invalid_request" },
  });
});

test("an error before the beginning is the end, unless it may get better", async () => {
  await using at = open({});
  const error = { type: "error", message: "m" } as const;
  const first = await at.socket(0);
  first.say({ ...error, code: "host_unavailable" });
  first.end(1012);
  (await at.socket(1)).say({ ...error, code: "forbidden" });
  const events = await at.all();
  expect(events.map(({ type }) => type)).toEqual(["error", "lost", "failed"]);
  expect(at.sockets).toHaveLength(2);
});

test("a session that ends takes its listener off the signal", async () => {
  const { signal } = new AbortController();
  await using at = open({ signal });
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  const socket = await at.socket(0);
  socket.say({ type: "exit", exit_code: 0, signal: null, reason: "exited", tail: 0 });
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test.each(["no JSON", '{"type":"stdout","offset":0,"encoding":"base64","data":"?"}'])(
  "a message that is no frame costs the connection, and one of an unknown type nothing: %s",
  async (message) => {
    await using at = open({});
    const socket = await at.socket(0);
    socket.say(connected({}));
    socket.sayRaw('{"type":"of tomorrow"}');
    socket.sayRaw(message);
    const last = (await at.next(2))[1];
    expect(last).toMatchObject({
      type: "lost",
      reason: "the server sent a message that is not a frame",
    });
  },
);

test("a server that falls silent is left", async () => {
  await using at = open({ pingMs: 10 });
  const socket = await at.socket(0);
  socket.open();
  socket.say(connected({}));
  expect((await at.next(2))[1]).toMatchObject({
    type: "lost",
    reason: "the server has fallen silent",
  });
  expect(socket.sent).toEqual([{ type: "ping" }]);
});

test("a reader that is behind gives the connection up and comes back when it has read", async () => {
  await using at = open({ queueBytes: 5000 });
  const socket = await at.socket(0);
  socket.say(connected({}));
  for (let offset = 0; offset < 10_000; offset += 1000) socket.print(offset, "x".repeat(1000));
  expect(socket.readyState).toBe(3);
  expect(await at.next(2)).toMatchObject([{ type: "connected" }, { type: "output", offset: 0 }]);
  expect(at.sockets).toHaveLength(1);
  expect(await at.next(2)).toMatchObject([{ offset: 1000 }, { offset: 2000 }]);
  const second = await at.socket(1);
  // What came behind the fourth frame was never kept, so it is asked for again.
  expect(second.url.searchParams.get("since")).toBe("4000");
  expect(at.pauses).toEqual([]);
  second.say(connected({ offset: 4000 }));
  expect(await at.next(3)).toMatchObject([
    { offset: 3000 },
    { type: "lost" },
    { type: "restored" },
  ]);
});

test("an abort detaches, and leaves nothing behind", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  using _timers = { [Symbol.dispose]: () => vi.useRealTimers() };
  const ending = new AbortController();
  await using at = open({ signal: ending.signal });
  const socket = await at.socket(0);
  socket.say(connected({}));
  expect(vi.getTimerCount()).toBe(1);
  ending.abort();
  expect((await at.all()).map(({ type }) => type)).toEqual(["connected"]);
  expect(socket.readyState).toBe(3);
  expect(vi.getTimerCount()).toBe(0);
  await expect(at.attached.write("x")).rejects.toMatchObject({ code: "conflict" });
  expect(at.sockets).toHaveLength(1);
});

test("a WebSocket that takes no token says what to do", async () => {
  const WebSocket = class {
    constructor() {
      throw new SyntaxError("wrong protocol");
    }
  } as unknown as ReturnType<typeof createFakeSockets>["WebSocket"];
  const transport = createTransport({ url: "http://localhost", token: "t", WebSocket });
  await using attached = openAttachment({ transport, getSession }, "ses_a");
  const [event] = await Array.fromAsync(attached);
  expect(event).toMatchObject({ type: "failed", fault: { code: "unsupported" } });
});

test("what was asked before the end is answered after it, and what is asked later is refused", async () => {
  await using at = open({ role: "controller" });
  const socket = await at.socket(0);
  socket.open();
  socket.say(connected({ role: "controller", generation: 1 }));
  const typed = at.attached.write("exit\n");
  const resized = at.attached.resize(90, 30);
  socket.say({ type: "exit", exit_code: 0, signal: null, reason: "exited", tail: 0 });
  expect((await at.all()).at(-1)).toMatchObject({ type: "exit" });
  await expect(at.attached.write("late")).rejects.toMatchObject({ code: "already_exited" });
  socket.say({ type: "ack", id: socket.sent[0]?.id ?? "" });
  await typed;
  expect(socket.readyState).not.toBe(3);
  socket.end(1000);
  await expect(resized).rejects.toMatchObject({ code: "already_exited" });
  expect(at.sockets).toHaveLength(1);
});

const getSession = () => Promise.reject(new Fault("host_unavailable", "away"));

function open(options: AttachOptions, session: () => Partial<Session> = () => ({})) {
  const { WebSocket, opened } = createFakeSockets();
  const pauses: number[] = [];
  const transport = createTransport({
    url: "http://localhost:1",
    token: "t",
    WebSocket,
    random: () => 1,
    pause: (ms) => {
      pauses.push(ms);
      return Promise.resolve();
    },
  });
  const get = async () => ({ tail: 1_000_000, controller: null, ...session() }) as Session;
  const attached = openAttachment({ transport, getSession: get }, "ses_a", options);
  return {
    attached,
    pauses,
    sockets: opened,
    socket: (index: number): Promise<FakeSocket> => waitFor(`socket ${index}`, () => opened[index]),
    all: (): Promise<AttachEvent[]> => Array.fromAsync(attached),
    next: async (count: number): Promise<AttachEvent[]> => {
      const events: AttachEvent[] = [];
      for await (const event of attached) {
        events.push(event);
        if (events.length === count) break;
      }
      return events;
    },
    [Symbol.asyncDispose]: () => attached.detach(),
  };
}

function connected(fields: Partial<Connected>): Connected {
  return {
    type: "connected",
    // As the server would write it.
    session_id: "ses_a" as Connected["session_id"],
    kind: "terminal",
    mode: "pty",
    role: "viewer",
    generation: null,
    offset: 0,
    tail: 0,
    cols: 80,
    rows: 24,
    state: { kind: "running" },
    ...fields,
  };
}
