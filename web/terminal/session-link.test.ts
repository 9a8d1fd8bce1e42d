import { expect, test, vi } from "vitest";
import { createClient } from "#client/client.ts";
import { createFakeSockets, type FakeSocket } from "#client/testing/fake-sockets.ts";
import type { ServerFrame } from "#contract/frames.ts";
import type { Session } from "#contract/session.ts";
import { type LinkedScreen, SessionLink } from "./session-link.ts";

type Connected = Extract<ServerFrame, { readonly type: "connected" }>;

test("a terminal that nobody holds is painted, then live, and this page holds the reins", async () => {
  using page = open({});
  const socket = await page.socket(0);
  expect(query(socket)).toEqual({ since: "tail", paint: "true", role: "controller" });
  socket.say(connected({ role: "controller", generation: 1, offset: 90, tail: 90 }));
  socket.say({ type: "screen", state: "painted", offset: 88 });
  socket.print(88, "abcd");
  await page.drawn(["begin 80x24", "paint painted", "old ab", "live cd"]);
  page.link.type("x");
  await vi.waitFor(() => expect(socket.sent).toMatchObject([{ type: "stdin", data: "eA==" }]));
});

test("one that somebody holds is watched, and typing into it reaches nobody", async () => {
  using page = open({ controller: { holder: "bob", generation: 4 } });
  const socket = await page.socket(0);
  expect(query(socket).role).toBe("viewer");
  socket.say(connected({ offset: 5, tail: 5 }));
  socket.print(5, "live for the one who holds them");
  await page.drawn(["begin 80x24", "old live for the one who holds them"]);
  page.link.type("x");
  page.link.want({ cols: 100, rows: 40 });
  expect(page.link.state.get()).toMatchObject({ hint: "shown", holder: "bob" });
  expect(socket.sent).toEqual([]);
});

test("whose role is too small only ever watches", async () => {
  using page = open({ mayControl: false });
  expect(query(await page.socket(0)).role).toBe("viewer");
});

test("the child gets the size once, and only from who holds the reins", async () => {
  using page = open({});
  const socket = await page.socket(0);
  page.link.want({ cols: 100, rows: 40 });
  socket.say(connected({ role: "controller", generation: 1 }));
  await page.drawn(["begin 80x24"]);
  expect(socket.sent).toEqual([]);
  expect(page.link.state.get().isDrawn).toBe(false);
  socket.say({ type: "screen", state: "", offset: 0 });
  await vi.waitFor(() => expect(socket.sent).toHaveLength(1));
  page.link.want({ cols: 100, rows: 40 });
  expect(socket.sent).toMatchObject([{ type: "resize", cols: 100, rows: 40 }]);
  socket.say({ type: "resized", cols: 100, rows: 40 });
  await page.drawn(["begin 80x24", "paint ", "resize 100x40"]);
  expect(page.link.state.get().isDrawn).toBe(true);
});

test("a size that was refused is offered again by who takes the reins", async () => {
  using page = open({});
  const socket = await page.socket(0);
  socket.say(connected({ role: "controller", generation: 1 }));
  socket.say({ type: "screen", state: "", offset: 0 });
  page.link.want({ cols: 100, rows: 40 });
  await vi.waitFor(() => expect(socket.sent).toHaveLength(1));
  const id = socket.sent[0]?.id ?? "";
  socket.say({ type: "error", id, code: "not_controller", message: "no" });
  await vi.waitFor(() => expect(page.link.state.get().role).toBe("viewer"));
  void page.link.take();
  await vi.waitFor(() => expect(socket.sent).toHaveLength(2));
  socket.say({ type: "ack", id: socket.sent[1]?.id ?? "" });
  await vi.waitFor(() => expect(socket.sent[2]).toMatchObject({ type: "resize", cols: 100 }));
});

test("when the reins are taken it watches on from the same byte, without painting", async () => {
  using page = open({});
  const first = await page.socket(0);
  first.say(connected({ role: "controller", generation: 1, tail: 0 }));
  first.print(0, "12345");
  first.say({ type: "control", holder: "bob", generation: 2 });
  first.end(4001);
  const second = await page.socket(1);
  expect(query(second)).toEqual({ since: "5", role: "viewer" });
  second.open();
  second.say(connected({ offset: 5, tail: 5 }));
  second.print(5, "678");
  await page.drawn(["begin 80x24", "live 12345", "old 678"]);
  expect(page.link.state.get()).toMatchObject({ role: "viewer", takenBy: "bob" });
  const taking = page.link.take();
  await vi.waitFor(() => expect(second.sent).toHaveLength(1));
  second.say({ type: "ack", id: second.sent[0]?.id ?? "" });
  await taking;
  expect(page.link.state.get()).toMatchObject({ role: "controller", takenBy: undefined });
});

test("what was printed while it was cut off is not live", async () => {
  using page = open({});
  const first = await page.socket(0);
  first.say(connected({ role: "controller", generation: 1, tail: 0 }));
  first.print(0, "ab");
  await page.drawn(["begin 80x24", "live ab"]);
  first.end(1006);
  const second = await page.socket(1);
  second.say(connected({ role: "controller", generation: 2, offset: 2, tail: 4 }));
  second.print(2, "cdef");
  await page.drawn(["begin 80x24", "live ab", "old cd", "live ef"]);
  expect(page.link.state.get()).toMatchObject({ connection: "live", isBack: false });
});

test("a cut is told when it lasts, and so is its end", async () => {
  using page = open({ pause: Promise.withResolvers<void>() });
  const first = await page.socket(0);
  first.say(connected({ role: "controller", generation: 1 }));
  await page.drawn(["begin 80x24"]);
  first.end(1006);
  await vi.waitFor(() => expect(page.link.state.get().connection).toBe("lost"));
  page.goOn();
  (await page.socket(1)).say(connected({ role: "controller", generation: 2 }));
  await vi.waitFor(() =>
    expect(page.link.state.get()).toMatchObject({ connection: "live", isBack: true }),
  );
});

test("far behind, only the last part of the way is drawn, and what is left out is said", async () => {
  using page = open({ mode: "pipe" });
  const socket = await page.socket(0);
  const tail = 4_000_000;
  socket.say(connected({ cols: null, rows: null, offset: 0, tail }));
  await page.drawn(["begin 80x24"]);
  for (let offset = 0; offset < tail; offset += 500_000) {
    socket.print(offset, "x".repeat(500_000));
    // A reader that gets its turn is never behind.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await page.drawn(["begin 80x24", "skip 3000000", "old 500000 bytes", "old 500000 bytes"]);
});

test("who is beaten to the reins watches", async () => {
  const controllers = [null, { holder: "bob", generation: 9 }];
  using page = open({ controllers });
  (await page.socket(0)).end(1006);
  const second = await page.socket(1);
  expect(query(second)).toEqual({ since: "tail", paint: "true", role: "viewer" });
  second.say(connected({}));
  await vi.waitFor(() => expect(page.link.state.get().connection).toBe("live"));
});

test("a gap is drawn, and never silent", async () => {
  using page = open({});
  const socket = await page.socket(0);
  socket.say(connected({ tail: 0 }));
  socket.say({ type: "gap", from: 0, to: 700 });
  socket.print(700, "x");
  await page.drawn(["begin 80x24", "gap 700", "old x"]);
});

test("an ended session is painted and said to be over, and is nobody's to hold", async () => {
  const state = { kind: "exited", exit_code: 3, signal: null, reason: "exited" } as const;
  using page = open({ state: { ...state, tail: 0, final: true } });
  const socket = await page.socket(0);
  expect(query(socket)).toMatchObject({ role: "viewer", paint: "true" });
  socket.say(connected({}));
  socket.say({ type: "screen", state: "last", offset: 0 });
  socket.say({ type: "exit", exit_code: 3, signal: null, reason: "exited", tail: 0 });
  await page.running;
  expect(page.link.state.get()).toMatchObject({ connection: "over", exit: { exit_code: 3 } });
  await page.drawn(["begin 80x24", "paint last", "end"]);
});

test("a command on pipes is read from its first byte, and is not held for nothing", async () => {
  using page = open({ mode: "pipe" });
  const socket = await page.socket(0);
  expect(query(socket)).toEqual({ role: "viewer" });
  socket.open();
  socket.say(connected({ cols: null, rows: null, role: "controller", generation: 1 }));
  page.link.want({ cols: 100, rows: 40 });
  await page.drawn(["begin 80x24"]);
  expect(socket.sent).toEqual([]);
});

test("what cannot get better is said as a sentence", async () => {
  using page = open({});
  const socket = await page.socket(0);
  socket.say(connected({}));
  socket.end(4403, "it is not yours");
  await page.running;
  expect(page.link.state.get()).toMatchObject({ connection: "over", failure: "it is not yours" });
});

test("a page that is reloaded takes back what its own old connection still holds, and nothing else", async () => {
  const controller = { holder: "ann#1", generation: 7 };
  using own = open({ controller, held: 7 });
  expect(query(await own.socket(0))).toMatchObject({ role: "controller", takeover: "true" });
  using other = open({ controller, held: 6 });
  expect(query(await other.socket(0))).toEqual({ since: "tail", paint: "true", role: "viewer" });
  using never = open({ controller, held: 7, mayControl: false });
  expect(query(await never.socket(0)).role).toBe("viewer");
});

test("what it holds is kept for a reload, for as long as it holds it", async () => {
  using page = open({});
  const socket = await page.socket(0);
  socket.say(connected({ role: "controller", generation: 3 }));
  await vi.waitFor(() => expect(page.kept()).toBe(3));
  void page.link.release();
  await vi.waitFor(() => expect(socket.sent).toHaveLength(1));
  socket.say({ type: "ack", id: socket.sent[0]?.id ?? "" });
  await vi.waitFor(() => expect(page.kept()).toBeUndefined());
  void page.link.take();
  await vi.waitFor(() => expect(socket.sent).toHaveLength(2));
  socket.say({ type: "control", holder: "ann#1", generation: 4 });
  socket.say({ type: "ack", id: socket.sent[1]?.id ?? "" });
  await vi.waitFor(() => expect(page.kept()).toBe(4));
  socket.say({ type: "control", holder: "bob#1", generation: 5 });
  socket.end(4001);
  await vi.waitFor(() => expect(page.link.state.get().takenBy).toBe("bob#1"));
  (await page.socket(1)).say(connected({}));
  await vi.waitFor(() => expect(page.kept()).toBeUndefined());
});

interface Opening {
  /** What the page knew before it was reloaded. */
  readonly held?: number;
  readonly controller?: Session["controller"];
  /** What each question is answered with; the last one for all that follow. */
  readonly controllers?: readonly Session["controller"][];
  readonly state?: Session["state"];
  readonly mode?: Session["mode"];
  readonly mayControl?: boolean;
  /** How long the second attempt is waited for. */
  readonly pause?: PromiseWithResolvers<void>;
}

function open(opening: Opening) {
  const { controller = null, state = { kind: "running" }, mode = "pty" } = opening;
  const session = { session_id: "ses_a", controller, state, mode, tail: 0 } as Session;
  const answers = [...(opening.controllers ?? [controller])];
  const { WebSocket, opened } = createFakeSockets();
  const client = createClient({
    url: "http://localhost:1",
    WebSocket,
    page: true,
    random: () => 1,
    pause: () => opening.pause?.promise ?? Promise.resolve(),
    fetch: () => {
      const now = answers.length > 1 ? answers.shift() : answers[0];
      return Promise.resolve(Response.json({ ...session, controller: now }));
    },
  });
  const drawn: string[] = [];
  let kept = opening.held;
  const link = new SessionLink({
    client,
    session,
    held: {
      find: () => kept,
      keep: (generation) => {
        kept = generation;
      },
    },
    mayControl: opening.mayControl ?? true,
    screen: createScreen(drawn),
    onRefusal: (sentence) => drawn.push(`refused ${sentence}`),
  });
  const running = link.run();
  return {
    link,
    running,
    kept: () => kept,
    goOn: () => opening.pause?.resolve(),
    socket: (index: number): Promise<FakeSocket> =>
      vi.waitFor(() => {
        const socket = opened[index];
        if (socket === undefined) throw new Error(`no socket ${index} yet`);
        if (socket.readyState === 0) socket.open();
        return socket;
      }),
    drawn: (lines: readonly string[]) => vi.waitFor(() => expect(drawn).toEqual(lines)),
    [Symbol.dispose]: () => link[Symbol.dispose](),
  };
}

function createScreen(drawn: string[]): LinkedScreen {
  const note = (line: string) => {
    drawn.push(line);
    return Promise.resolve();
  };
  return {
    begin: ({ cols, rows }) => note(`begin ${cols}x${rows}`),
    paint: (state) => note(`paint ${state}`),
    print: (bytes, { isLive }) =>
      note(
        `${isLive ? "live" : "old"} ${bytes.length > 100 ? `${bytes.length} bytes` : new TextDecoder().decode(bytes)}`,
      ),
    resize: ({ cols, rows }) => note(`resize ${cols}x${rows}`),
    gap: (bytes) => note(`gap ${bytes}`),
    skip: (bytes) => note(`skip ${bytes}`),
    end: () => note("end"),
  };
}

function query({ url }: FakeSocket): Record<string, string> {
  return Object.fromEntries(url.searchParams);
}

function connected(frame: Partial<Connected>): Connected {
  const session_id = "ses_a" as Connected["session_id"];
  return {
    type: "connected",
    session_id,
    kind: "terminal",
    mode: "pty",
    role: "viewer",
    generation: null,
    offset: 0,
    tail: 0,
    cols: 80,
    rows: 24,
    state: { kind: "running" },
    ...frame,
  };
}
