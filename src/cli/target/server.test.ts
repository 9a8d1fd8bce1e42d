import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { openClient } from "./open-client.ts";
import { findTarget, listSessions } from "./target.ts";

/** A user who has neither a server nor a token. */
function openEmptyHome(): Disposable {
  using stack = new DisposableStack();
  const { path } = stack.use(openTempDir());
  for (const [name, value] of [
    ["REINS_HOME", path],
    ["REINS_TOKEN", ""],
  ] as const) {
    const before = process.env[name];
    stack.defer(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
    process.env[name] = value;
  }
  return stack.move();
}

async function openOther(answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const find = async (url: string) => {
  await using client = await openClient({ to: url });
  return await findTarget(client, url);
};

test("an address where nothing answers is a target that is not found, also without a token", async () => {
  using _home = openEmptyHome();
  await expect(find("http://127.0.0.1:1")).rejects.toMatchObject({
    code: "run_not_found",
    message: expect.stringContaining("nothing answers at http://127.0.0.1:1"),
  });
});

test("a server that wants a token is told apart from one that is not there", async () => {
  using _home = openEmptyHome();
  const error = { code: "unauthenticated", message: "send a token", details: {} };
  await using server = await openOther((_request, response) => {
    response.writeHead(401, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ error }));
  });
  await expect(find(server.url)).rejects.toMatchObject({
    code: "unauthenticated",
    message: expect.stringContaining("REINS_TOKEN"),
  });
});

test("an HTTP server that is not Reins is named as such, by --remote and as a target", async () => {
  using _home = openEmptyHome();
  await using server = await openOther((_request, response) => response.end("{}"));
  await expect(find(server.url)).rejects.toMatchObject({
    code: "run_not_found",
    message: expect.stringContaining(`${server.url} does not answer as a Reins server`),
  });
  process.env.REINS_TOKEN = "any";
  await using client = await openClient({ remote: server.url });
  await expect(Array.fromAsync(listSessions(client, {}))).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining(`${server.url} does not answer as a Reins server`),
  });
});
