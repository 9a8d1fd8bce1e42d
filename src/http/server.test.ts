import { once } from "node:events";
import { expect, test } from "vitest";
import type { Gateway } from "#app/gateway.ts";
import { systemClock } from "#base/clock.ts";
import { silentLogger } from "#base/logger.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import type { AnswerMcp } from "./mcp.ts";
import { openHttpServer } from "./server.ts";

test("who leaves before MCP has answered leaves nothing open", async () => {
  const caller = createTestCaller({ token_id: "tok" });
  // All that the door asks of it.
  const gateway = { identify: () => caller, knows: () => true } as unknown as Gateway;
  const arrived = Promise.withResolvers<AbortSignal>();
  const mcp: AnswerMcp = async (request, { signal }) => {
    arrived.resolve(signal);
    await once(request.signal, "abort");
    return new Response("too late");
  };
  const place = { hostname: "127.0.0.1", port: 0 };
  await using server = await openHttpServer({
    ...{ gateway, mcp, clock: systemClock, log: silentLogger },
    ...place,
  });
  const leaving = new AbortController();
  const asked = fetch(`${server.url}/mcp`, {
    method: "POST",
    headers: { Authorization: "Bearer token" },
    body: "{}",
    signal: leaving.signal,
  });
  const held = await arrived.promise;
  leaving.abort();
  await expect(asked).rejects.toThrow();
  await waitFor("what was held for it is given up", () => held.aborted);
  expect(held.reason).toBe("finished");
});
