import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect, test } from "vitest";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { openTestHost } from "#test/harness/host.ts";
import { starve } from "#test/harness/starve.ts";

interface Answered {
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  readonly body: unknown;
}

test.skipIf(process.platform !== "linux")(
  "a gateway without descriptors refuses what it cannot read as overloaded, and reads it a moment later",
  async () => {
    await using host = await openTestHost();
    const { session_id } = await host.create({ command: "echo kept" });
    await host.output(session_id);
    await using gateway = await openGatewayProcess({ dataDir: host.dataDir });
    // Without descriptors nobody new is let in: the connection must be there before.
    using agent = openOneConnection();
    const token = readFileSync(join(host.dataDir, "token"), "utf8").trim();
    const ask = (path: string) => askOver(agent, `${gateway.door.url}${path}`, token);
    expect(await ask("/v1/sessions")).toMatchObject({ status: 200 });
    const names = ["output?since=0", "events?follow=false", "screen"];
    const paths = names.map((name) => `/v1/sessions/${session_id}/${name}`);
    {
      using _starved = starve(gateway.pid);
      // The code behind /mcp is loaded for who comes first, and cannot be.
      for (const path of [...paths, "/mcp"])
        expect([path, await ask(path)]).toEqual([
          path,
          {
            status: 503,
            retryAfter: "1",
            body: { error: expect.objectContaining({ code: "overloaded" }) },
          },
        ]);
    }
    for (const path of paths) expect(await ask(path)).toMatchObject({ status: 200 });
    expect(await ask("/mcp")).toMatchObject({ status: 405 });
  },
);

function openOneConnection(): Agent & Disposable {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() });
}

async function askOver(agent: Agent, url: string, token: string): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const headers = { Authorization: `Bearer ${token}` };
  request(url, { agent, headers }, (response) => {
    const retryAfter = response.headers["retry-after"];
    json(response)
      .catch(() => undefined)
      .then((body) => resolve({ status: response.statusCode, retryAfter, body }), reject);
  })
    .on("error", reject)
    .end();
  return await promise;
}
