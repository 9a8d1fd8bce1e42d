import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { type Client, createClient } from "./client.ts";

test("a refusal is a fault with the server's code, words and request", async () => {
  await using server = await openServer((_request, response) =>
    json(response, 404, {
      error: {
        code: "session_not_found",
        message: "there is none",
        details: { a: 1 },
        request_id: "req_1",
      },
    }),
  );
  await expect(server.client.call("session.get", { session_id: "ses_x" })).rejects.toMatchObject({
    code: "session_not_found",
    message: "there is none",
    details: { a: 1, request_id: "req_1" },
  });
});

test.each([
  [502, "host_unavailable"],
  [200, "invalid_request"],
  [404, "invalid_request"],
  [302, "invalid_request"],
  [500, "internal"],
])("a page with status %i that is not ours says so as %s", async (status, code) => {
  await using server = await openServer((_request, response) => {
    response.writeHead(status, { "Content-Type": "text/html", Location: "/login" });
    response.end("<html>Bad Gateway</html>");
  });
  const call = server.client.call("session.create", { kind: "terminal" });
  await expect(call).rejects.toMatchObject({
    code,
    message: expect.stringContaining("does not answer as a Reins server"),
  });
});

test("a server that is not there is host_unavailable", async () => {
  const server = await openServer(() => undefined);
  await server[Symbol.asyncDispose]();
  await expect(server.client.call("server.health", {})).rejects.toMatchObject({
    code: "host_unavailable",
  });
});

test("what is read is asked again, what changes something only with a key of its own", async () => {
  await using server = await openServer((_request, response) => unavailable(response));
  const asked = async (call: Promise<unknown>) => {
    const before = server.requests.length;
    await expect(call).rejects.toMatchObject({ code: "host_unavailable" });
    return server.requests.length - before;
  };
  const { client } = server;
  const session_id = "ses_x";
  expect(await asked(client.call("session.list", {}))).toBe(3);
  expect(await asked(client.call("session.create", { kind: "terminal" }))).toBe(1);
  expect(
    await asked(client.call("session.create", { kind: "terminal", idempotency_key: "k" })),
  ).toBe(3);
  expect(await asked(client.call("session.input", { session_id, data: "x" }))).toBe(1);
  expect(await asked(client.call("session.input", { session_id, data: "x", input_id: "i" }))).toBe(
    3,
  );
  expect(await asked(client.call("session.close", { session_id }))).toBe(1);
  expect(server.pauses.every((ms) => ms >= 1000)).toBe(true);
});

test("a refusal that would stay one is not asked again", async () => {
  await using server = await openServer((_request, response) =>
    json(response, 429, { error: { code: "too_many", message: "wait" } }),
  );
  await expect(server.client.call("session.list", {})).rejects.toMatchObject({ code: "too_many" });
  expect(server.requests).toHaveLength(1);
});

test("an answer that breaks off is asked again", async () => {
  await using server = await openServer((_request, response, count) => {
    if (count > 1) return json(response, 200, { status: "ok", version: "1" });
    response.writeHead(200, { "Content-Length": "1000" });
    response.write("{", () => response.destroy());
    return undefined;
  });
  expect(await server.client.call("server.health", {})).toEqual({ status: "ok", version: "1" });
});

test("an aborted call rejects with the signal's reason", async () => {
  const ending = new AbortController();
  await using server = await openServer(() => ending.abort(new Error("enough")));
  const call = server.client.call("server.health", {}, { signal: ending.signal });
  await expect(call).rejects.toThrow("enough");
});

test("a token goes as a header, a page sends its mark and no token", async () => {
  const ticket = { ticket: "t", expires_at: "2026-01-01T00:00:00.000Z" };
  await using server = await openServer((_request, response) => json(response, 200, ticket));
  await createClient({ url: `${server.url}/below/`, token: "secret" }).call("ticket.create", {});
  await createClient({ url: server.url, page: true, token: "secret" }).call("ticket.create", {});
  const [first, second] = server.requests;
  expect(first).toMatchObject({
    url: "/below/v1/tickets",
    headers: { authorization: "Bearer secret" },
  });
  expect(first?.headers["x-reins-page"]).toBe(undefined);
  expect(second?.headers).toMatchObject({ "x-reins-page": "1" });
  expect(second?.headers.authorization).toBe(undefined);
});

test("an address that is none is refused at once", () => {
  expect(() => createClient({ url: "localhost:80" })).toThrow(/does not look like/);
});

test("output is its headers and its bytes, and without headers it is not ours", async () => {
  const headers = {
    "X-Reins-Offset": "10",
    "X-Reins-Next": "13",
    "X-Reins-Tail": "20",
    "X-Reins-State": "running",
    "X-Reins-Final": "0",
    "X-Reins-Gap": "0-10",
  };
  await using server = await openServer((_request, response, count) => {
    response.writeHead(200, count === 1 ? headers : {});
    response.end("abc");
  });
  const { bytes, ...rest } = await server.client.output({ session_id: "s", since: 0 });
  expect(Buffer.from(bytes).toString()).toBe("abc");
  expect(rest).toEqual({
    offset: 10,
    next: 13,
    tail: 20,
    gap: { from: 0, to: 10 },
    state: "running",
    final: false,
  });
  await expect(server.client.output({ session_id: "s" })).rejects.toThrow(
    /does not answer as a Reins server/,
  );
});

test.each(["{}", '{"sessions":null}', "[]", '"hello"', "<html>"])(
  "an answer of another program is named as such: %s",
  async (text) => {
    await using server = await openServer((_request, response) => response.end(text));
    const call = server.client.call("session.list", {});
    await expect(call).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(
        /^http:\/\/127\.0\.0\.1:\d+ does not answer as a Reins server/,
      ),
      details: { not_reins: true },
    });
  },
);

test("a range that stops short of the end is not final, whatever an older server says", async () => {
  const about = { "X-Reins-Offset": "0", "X-Reins-State": "exited", "X-Reins-Final": "1" };
  await using server = await openServer((_request, response, count) => {
    const next = count === 1 ? "3" : "6";
    response.writeHead(200, { ...about, "X-Reins-Next": next, "X-Reins-Tail": "6" });
    response.end("abc");
  });
  expect(await server.client.output({ session_id: "s" })).toMatchObject({ final: false });
  expect(await server.client.output({ session_id: "s" })).toMatchObject({ final: true });
});

test("an answer that does not end is refused and its request ended", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
    cancel: () => {
      isCancelled = true;
    },
  });
  const client = createClient({ url: "http://localhost", fetch: async () => new Response(body) });
  await expect(client.call("server.health", {})).rejects.toMatchObject({
    code: "payload_too_large",
  });
  expect(isCancelled).toBe(true);
});

interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly client: Client;
  readonly requests: IncomingMessage[];
  /** How long the client wanted to wait. */
  readonly pauses: number[];
}

async function openServer(
  answer: (request: IncomingMessage, response: ServerResponse, count: number) => void,
): Promise<TestServer> {
  const requests: IncomingMessage[] = [];
  const pauses: number[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response, requests.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server that listens has an address of this form.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pause = (ms: number) => {
    pauses.push(ms);
    return Promise.resolve();
  };
  return {
    url,
    requests,
    pauses,
    client: createClient({ url, pause }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(body));
}

function unavailable(response: ServerResponse): void {
  response.setHeader("Retry-After", "1");
  json(response, 503, { error: { code: "host_unavailable", message: "away" } });
}
