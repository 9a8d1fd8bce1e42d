import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defined } from "#contract/values/defined.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { connectHost } from "./connect-host.ts";
import { encodeJson, FrameReader } from "./frames.ts";

const HELLO = encodeJson({ type: "hello", protocol: 1, features: [], pid: 1, version: "x" });
const NOISE = Buffer.alloc(64, 0xff);

interface Stranger extends AsyncDisposable {
  readonly path: string;
  /** The one who has connected. */
  readonly guest: Promise<Socket>;
}

/** Somebody on a socket of ours who says just this. */
async function openStranger(words: Buffer): Promise<Stranger> {
  const dir = openTempDir();
  const path = join(dir.path, "s");
  const guest = Promise.withResolvers<Socket>();
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.write(words);
    guest.resolve(socket);
  });
  server.listen(path);
  await once(server, "listening");
  return {
    path,
    guest: guest.promise,
    [Symbol.asyncDispose]: async () => {
      (await guest.promise).destroy();
      server.close();
      await once(server, "close");
      dir[Symbol.dispose]();
    },
  };
}

test.each([
  ["no frame", NOISE],
  ["no frame behind one that says nothing", Buffer.concat([encodeJson(null), NOISE])],
])("who answers with %s is no host", async (_, words) => {
  await using stranger = await openStranger(words);
  await expect(connectHost(stranger.path)).rejects.toMatchObject({
    code: "host_unavailable",
    details: { errno: "EPROTO" },
  });
});

test("a host that sends what is no frame is gone, and whoever waits for it is told", async () => {
  await using stranger = await openStranger(HELLO);
  using client = await connectHost(stranger.path);
  const call = client.call("host.health", {});
  (await stranger.guest).write(NOISE);
  await expect(call).rejects.toMatchObject({ code: "host_unavailable" });
  expect(await client.closed).toMatchObject({ code: "host_unavailable" });
});

test("a host that takes the connection and says nothing is named with its process", async () => {
  await using stranger = await openStranger(Buffer.alloc(0));
  const pid = process.platform === "linux" ? process.pid : undefined;
  await expect(connectHost(stranger.path, { helloMs: 20 })).rejects.toMatchObject({
    code: "host_unavailable",
    message: expect.stringMatching(/^the host( \(process \d+\))? does not answer\./),
    details: { errno: "ETIMEDOUT", ...defined({ pid }) },
  });
});

test("a host that has a reason to be silent is waited for", async () => {
  await using stranger = await openStranger(Buffer.alloc(0));
  let asked = 0;
  const isBusy = () => {
    asked += 1;
    if (asked === 2) void stranger.guest.then((guest) => guest.write(HELLO));
    return true;
  };
  using client = await connectHost(stranger.path, { helloMs: 20, isBusy });
  expect(client.hello.version).toBe("x");
});

interface Asked {
  readonly id: number;
  readonly method: string;
}

/** Hears what a client asks; `answer` is called with each request. */
async function listenTo(
  { guest }: Stranger,
  answer: (asked: Asked, reply: (result: unknown) => void) => void,
): Promise<Asked[]> {
  const socket = await guest;
  const reader = new FrameReader();
  const heard: Asked[] = [];
  socket.on("data", (chunk) => {
    for (const frame of reader.push(chunk)) {
      if (frame.kind !== "json") continue;
      const asked = frame.value as Asked;
      heard.push(asked);
      answer(asked, (result) => socket.write(encodeJson({ id: asked.id, result })));
    }
  });
  return heard;
}

test("a request whose answer does not come fails alone, and names the process of the host", async () => {
  await using stranger = await openStranger(HELLO);
  using client = await connectHost(stranger.path, { answerMs: 30 });
  await listenTo(stranger, ({ method }, reply) => {
    if (method === "host.health") reply({ pid: 1 });
  });
  const pid = process.platform === "linux" ? process.pid : undefined;
  await expect(client.call("session.list", {})).rejects.toMatchObject({
    code: "host_unavailable",
    message: expect.stringMatching(/^the host( \(process \d+\))? does not answer\./),
    details: { errno: "ETIMEDOUT", ...defined({ pid }) },
  });
  expect(await client.call("host.health", {})).toEqual({ pid: 1 });
});

test("a close is waited for as long as the host answers something else", async () => {
  await using stranger = await openStranger(HELLO);
  using client = await connectHost(stranger.path, { answerMs: 30 });
  let closes: ((result: unknown) => void) | undefined;
  let probes = 0;
  await listenTo(stranger, ({ method }, reply) => {
    if (method === "session.close") closes = reply;
    if (method !== "host.health" || probes > 2) return;
    probes += 1;
    reply({});
    if (probes === 2) closes?.({ session_id: "ses_1" });
  });
  const close = () => client.call("session.close", { session_id: "ses_1" });
  expect(await close()).toEqual({ session_id: "ses_1" });
  await expect(close()).rejects.toMatchObject({ details: { errno: "ETIMEDOUT" } });
  expect(probes).toBe(3);
});

test("what a late answer gives is given back", async () => {
  await using stranger = await openStranger(HELLO);
  using client = await connectHost(stranger.path, { answerMs: 30 });
  const late: (() => void)[] = [];
  const heard = await listenTo(stranger, ({ method }, reply) => {
    if (method === "session.watch") late.push(() => reply({ watch: 7, session: {} }));
    if (method === "session.attach") late.push(() => reply({ attachment: 8 }));
  });
  const attach = { session_id: "ses_1", viewer: "x", role: "viewer" } as const;
  await expect(client.watch("ses_1")).rejects.toMatchObject({ code: "host_unavailable" });
  await expect(client.call("session.attach", attach)).rejects.toMatchObject({
    code: "host_unavailable",
  });
  for (const answer of late) answer();
  await waitFor("both are given back", () => heard.length >= 4);
  expect(heard.slice(2)).toMatchObject([
    { method: "session.unwatch", params: { watch: 7 } },
    { method: "session.detach", params: { attachment: 8 } },
  ]);
});
