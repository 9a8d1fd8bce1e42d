import { expect, test, vi } from "vitest";
import type { StreamItem } from "#contract/operations.ts";
import { createClient } from "./client.ts";
import { followStream } from "./stream.ts";
import { createTransport } from "./transport.ts";

const session_id = "ses_a";

test("goes on behind the last event that it saw, also when the body breaks off", async () => {
  const server = createServer([
    {
      chunks: ['id: 10\ndata: {"n":1}\n\n', 'id: 20\ndata: {"n":2}\n\nid: 30\ndata: {"n'],
      error: true,
    },
    { chunks: ['id: 30\ndata: {"n":3}\n\n', ": alive\n\n"] },
    { chunks: ['id: 40\ndata: {"n":4}\n\n'] },
  ]);
  const items = await take(server.client.stream("session.events", { session_id, since: 5 }), 4);
  expect(items.map(({ id }) => id)).toEqual([10, 20, 30, 40]);
  expect(server.asked).toEqual([
    { path: "/v1/sessions/ses_a/events?since=5", lastId: null },
    { path: "/v1/sessions/ses_a/events", lastId: "20" },
    { path: "/v1/sessions/ses_a/events", lastId: "30" },
  ]);
});

test("the end of the log is taken as a number, so that a cut before the first event loses nothing", async () => {
  const server = createServer([
    { json: { session_id, events_tail: 77 } },
    { chunks: [": alive\n\n"] },
    { chunks: ['id: 90\ndata: {"n":1}\n\n'] },
  ]);
  await take(server.client.stream("session.events", { session_id, since: "tail" }), 1);
  expect(server.asked.map(({ path }) => path)).toEqual([
    "/v1/sessions/ses_a",
    "/v1/sessions/ses_a/events?since=77",
    "/v1/sessions/ses_a/events?since=77",
  ]);
});

test("a stream without ids begins anew", async () => {
  const ready = 'data: {"type":"ready"}\n\n';
  const server = createServer([{ chunks: [ready] }, { chunks: [ready] }]);
  const items = await take(server.client.stream("sessions.watch", {}), 2);
  expect(items).toEqual([{ data: { type: "ready" } }, { data: { type: "ready" } }]);
});

test("a run is never asked for twice: its end is the end, a cut is a fault", async () => {
  const run = { shell_id: "shl_a", command: "true" };
  const ended = createServer([{ chunks: ['data: {"type":"run"}\n\n'] }]);
  expect(await take(ended.client.stream("shell.run", run), 9)).toHaveLength(1);
  const cut = createServer([{ chunks: ['data: {"type":"run"}\n\n'], error: true }]);
  await expect(take(cut.client.stream("shell.run", run), 9)).rejects.toMatchObject({
    code: "host_unavailable",
  });
  expect(cut.asked).toHaveLength(1);
});

test("without follow the end is the end", async () => {
  const server = createServer([{ chunks: ['id: 1\ndata: {"n":1}\n\n'] }]);
  const items = await take(
    server.client.stream("session.events", { session_id, follow: false }),
    9,
  );
  expect(items).toHaveLength(1);
});

test("an error event is a fault, unless the server only stops; an event of the log has an id", async () => {
  const error = (code: string) =>
    `event: error\ndata: {"type":"error","code":"${code}","message":"m"}\n\n`;
  const refused = createServer([{ chunks: [error("forbidden")] }]);
  await expect(take(refused.client.stream("sessions.watch", {}), 1)).rejects.toMatchObject({
    code: "forbidden",
    message: "m",
  });
  const stopping = createServer([
    { chunks: [error("shutting_down")] },
    { chunks: [error("internal")] },
    { chunks: [error("overloaded")] },
    { status: 503, json: { error: { code: "overloaded", message: "m" } } },
    { chunks: [`id: 5\n${error("x")}`] },
  ]);
  const [item] = await take(stopping.client.stream("session.events", { session_id }), 1);
  expect(item).toMatchObject({ id: 5, data: { type: "error" } });
});

test("a refusal is thrown at once, and so is an answer that is no stream", async () => {
  const refused = createServer([
    { status: 404, json: { error: { code: "session_not_found", message: "none" } } },
  ]);
  await expect(
    take(refused.client.stream("session.events", { session_id }), 1),
  ).rejects.toMatchObject({
    code: "session_not_found",
  });
  const page = createServer([{ json: {} }]);
  await expect(take(page.client.stream("session.events", { session_id }), 1)).rejects.toThrow(
    /does not answer as a Reins server/,
  );
  expect([refused.asked.length, page.asked.length]).toEqual([1, 1]);
});

test("of an error body of 10 MB a beginning is read, and the rest is left", async () => {
  const piece = "x".repeat(64 * 1024);
  const chunks = Array.from({ length: 160 }, () => piece);
  const server = createServer([{ status: 418, chunks }]);
  const reading = take(server.client.stream("session.events", { session_id }), 1);
  const fault = await reading.catch((error: unknown) => error);
  expect(fault).toMatchObject({ code: "invalid_request", details: { status: 418 } });
  expect(fault).toHaveProperty("details.body", "x".repeat(4096));
});

test("an event of 1 MB comes whole, in whatever pieces", async () => {
  const text = "long ".repeat(200_000);
  const line = `id: 9\ndata: ${JSON.stringify({ text })}\n\n`;
  const chunks = line.match(/[\s\S]{1,40000}/g) ?? [];
  const server = createServer([{ chunks }]);
  const [item] = await take(server.client.stream("session.events", { session_id }), 1);
  expect(item).toEqual({ id: 9, data: { text }, text: JSON.stringify({ text }) });
});

test("gives up after ten attempts in a row that said nothing, and waits longer each time", async () => {
  const server = createServer([]);
  await expect(take(server.client.stream("sessions.watch", {}), 1)).rejects.toMatchObject({
    code: "host_unavailable",
  });
  expect(server.asked).toHaveLength(11);
  expect(server.pauses).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000]);
});

test("a heartbeat is a success", async () => {
  const alive = Array.from({ length: 15 }, () => ({ chunks: [": alive\n\n"] }));
  const server = createServer([...alive, { chunks: ['data: {"type":"ready"}\n\n'] }]);
  expect(await take(server.client.stream("sessions.watch", {}), 1)).toHaveLength(1);
  expect(new Set(server.pauses)).toEqual(new Set([100]));
});

test("a stream that falls silent is left", async () => {
  const server = createServer([{ chunks: ['data: {"n":1}\n\n'], isOpen: true }]);
  const transport = createTransport({ url: "http://localhost", fetch: server.fetch });
  const request = {
    name: "shell.run",
    input: { shell_id: "s" },
    resumption: "none",
    silenceMs: 20,
  } as const;
  await expect(take(followStream(transport, request), 2)).rejects.toThrow(
    "the stream has fallen silent",
  );
  expect(server.cancelled()).toBe(1);
});

test("a reader that takes its time is no silence", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  using _timers = { [Symbol.dispose]: () => vi.useRealTimers() };
  const chunk = 'data: {"n":1}\n\n';
  const server = createServer([{ chunks: [chunk, chunk] }]);
  let read = 0;
  for await (const _ of server.client.stream("shell.run", { shell_id: "s", command: "x" })) {
    read += 1;
    vi.advanceTimersByTime(60 * 60 * 1000);
  }
  expect(read).toBe(2);
  expect(vi.getTimerCount()).toBe(0);
});

test("a cut is told when it is, once for each try", async () => {
  const chunks = ['data: {"n":1}\n\n'];
  const server = createServer([{ chunks }, { chunks: [] }, { chunks }]);
  const heard: string[] = [];
  const onCut = () => heard.push("cut");
  for await (const _ of server.client.stream("sessions.watch", {}, { onCut }))
    if (heard.push("item") === 4) break;
  expect(heard).toEqual(["item", "cut", "cut", "item"]);
});

test("who stops reading or aborts ends the request", async () => {
  const open = { chunks: ['data: {"n":1}\n\n'], isOpen: true };
  const left = createServer([open]);
  await take(left.client.stream("sessions.watch", {}), 1);
  expect(left.cancelled()).toBe(1);
  const ending = new AbortController();
  const aborted = createServer([open]);
  const reading = (async () => {
    for await (const _ of aborted.client.stream("sessions.watch", {}, ending))
      ending.abort(new Error("enough"));
  })();
  await expect(reading).rejects.toThrow("enough");
  expect(aborted.cancelled()).toBe(1);
});

interface Script {
  readonly status?: number;
  readonly json?: object;
  readonly chunks?: readonly string[];
  /** How it ends: a broken body, or not at all. */
  readonly error?: boolean;
  readonly isOpen?: boolean;
}

/** Answers by a script; behind its end nobody answers. */
function createServer(scripts: readonly Script[]) {
  const asked: { readonly path: string; readonly lastId: string | null }[] = [];
  const pauses: number[] = [];
  let cancelled = 0;
  const answer: typeof fetch = async (input, init) => {
    const { pathname, search } = new URL(String(input));
    asked.push({
      path: pathname + search,
      lastId: new Headers(init?.headers).get("last-event-id"),
    });
    const script = scripts[asked.length - 1];
    if (script === undefined) throw new TypeError("fetch failed");
    if (script.json !== undefined)
      return Response.json(script.json, { status: script.status ?? 200 });
    const waiting = [...(script.chunks ?? [])];
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        init?.signal?.addEventListener("abort", () => {
          cancelled += 1;
          controller.error(init.signal?.reason);
        });
      },
      pull: (controller) => {
        const chunk = waiting.shift();
        if (chunk !== undefined) controller.enqueue(new TextEncoder().encode(chunk));
        else if (script.error === true) controller.error(new TypeError("terminated"));
        else if (script.isOpen !== true) controller.close();
      },
    });
    const headers = { "Content-Type": "text/event-stream" };
    return new Response(body, { status: script.status ?? 200, headers });
  };
  const pause = (ms: number) => {
    pauses.push(ms);
    return Promise.resolve();
  };
  const client = createClient({ url: "http://localhost", fetch: answer, pause, random: () => 1 });
  return { client, fetch: answer, asked, pauses, cancelled: () => cancelled };
}

async function take(
  items: AsyncIterable<StreamItem<unknown>>,
  count: number,
): Promise<StreamItem<unknown>[]> {
  const taken: StreamItem<unknown>[] = [];
  for await (const item of items) {
    taken.push(item);
    if (taken.length === count) break;
  }
  return taken;
}
