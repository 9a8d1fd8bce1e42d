import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defined } from "#contract/values/defined.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { connectHost } from "./client.ts";
import { encodeJson } from "./frames.ts";

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
