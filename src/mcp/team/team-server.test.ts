import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { systemClock } from "#base/clock.ts";
import { silentLogger } from "#base/logger.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { inline, openEmbeddedPlace, scripted } from "#test/harness/runtimes.ts";
import { createTeamServer } from "./team-server.ts";

const TEAM = inline(
  scripted([{ when: { last_user_contains: "for ever" }, delay_ms: 600_000, text: "Never said." }]),
);

/** The official client and a team in one process, and the sessions that its calls made. */
async function openServed() {
  await using stack = new AsyncDisposableStack();
  const { backend } = stack.use(await openEmbeddedPlace());
  const made: Runtime[] = [];
  const server = createTeamServer({
    backend: {
      ...backend,
      create: async (request) => {
        const runtime = await backend.create(request);
        made.push(runtime);
        return runtime;
      },
    },
    team: await backend.load({ source: TEAM }),
    agents: [{ name: "root", tool: "root", description: "", isReadOnly: false }],
    request: ({ agent, isHeadless }) => ({
      source: TEAM,
      agent_name: agent,
      headless: isHeadless,
    }),
    version: "1.2.3",
    clock: systemClock,
    log: silentLogger,
  });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  const client = new Client({ name: "editor", version: "1" });
  await client.connect(near);
  const owned = stack.move();
  const activity = async () => (await made[0]?.snapshot())?.activity;
  return { client, activity, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const call = { name: "root", arguments: { message: "Think for ever." } };

test("a connection that ends leaves the turn running", async () => {
  await using served = await openServed();
  const waiting = served.client.callTool(call).catch((error: unknown) => error);
  await waitFor("the turn runs", async () => (await served.activity()) === "running");
  await served.client.close();
  await waiting;
  // Whatever the end of the connection causes has been caused by then.
  await new Promise((resolve) => setImmediate(resolve));
  expect(await served.activity()).toBe("running");
});

test("a call that is cancelled ends its turn", async () => {
  await using served = await openServed();
  const cancelling = new AbortController();
  const waiting = served.client.callTool(call, { signal: cancelling.signal });
  await waitFor("the turn runs", async () => (await served.activity()) === "running");
  cancelling.abort();
  await expect(waiting).rejects.toThrow();
  await waitFor("the turn has ended", async () => (await served.activity()) === "idle");
});
