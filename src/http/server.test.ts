import { once } from "node:events";
import { request as ask, type IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import type { Gateway } from "#app/gateway.ts";
import { systemClock } from "#base/clock.ts";
import { silentLogger } from "#base/logger.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import type { AnswerMcp } from "./mcp.ts";
import { type HttpServer, openHttpServer } from "./server.ts";

/** A server that lets everybody in, and answers MCP as the test says. */
function openMcpServer(mcp: AnswerMcp, onVisit: () => void = () => undefined): Promise<HttpServer> {
  const caller = createTestCaller({ token_id: "tok" });
  const identify = () => {
    onVisit();
    return caller;
  };
  // All that the door asks of it.
  const gateway = { identify, knows: () => true } as unknown as Gateway;
  const place = { hostname: "127.0.0.1", port: 0 };
  return openHttpServer({ gateway, mcp, clock: systemClock, log: silentLogger, ...place });
}

const headers = { Authorization: "Bearer token" };

test("who leaves before MCP has answered leaves nothing open", async () => {
  const arrived = Promise.withResolvers<AbortSignal>();
  await using server = await openMcpServer(async (request, { signal }) => {
    arrived.resolve(signal);
    await once(request.signal, "abort");
    return new Response("too late");
  });
  const leaving = new AbortController();
  const { signal } = leaving;
  const asked = fetch(`${server.url}/mcp`, { method: "POST", headers, body: "{}", signal });
  const held = await arrived.promise;
  leaving.abort();
  await expect(asked).rejects.toThrow();
  await waitFor("what was held for it is given up", () => held.aborted);
  expect(held.reason).toBe("finished");
});

test("a call of MCP that is there as a whole only when the server stops is not begun", async () => {
  const calls: string[] = [];
  const visited = Promise.withResolvers<void>();
  const mcp: AnswerMcp = async ({ url }) => {
    calls.push(url);
    return new Response("done");
  };
  await using server = await openMcpServer(mcp, visited.resolve);
  const asking = ask(`${server.url}/mcp`, { method: "POST", headers, agent: false });
  asking.write("{");
  await visited.promise;
  const stopped = server[Symbol.asyncDispose]();
  asking.end("}");
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  expect(answer.statusCode).toBe(503);
  answer.resume();
  await stopped;
  expect(calls).toEqual([]);
});
