import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "#client/client.ts";
import { openRemoteBackend } from "#client/runtime.ts";
import { createBackend } from "#contract/runtime/create-backend.ts";
import type { Runtime, RuntimeBackend } from "#contract/runtime/runtime.ts";
import { openOwnClient } from "#daemon/own/own-client.ts";
import { workerPath } from "#test/harness/agent-worker.ts";
import { inline } from "#test/harness/agents.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway } from "#test/harness/gateway.ts";
import { openTestHost } from "#test/harness/host.ts";

/** One runtime over two ways to the operations: in this process, and over HTTP. The worker is a puppet. */

interface Place extends AsyncDisposable {
  readonly backend: RuntimeBackend;
  /** A session that is no agent. */
  createCommand(): Promise<string>;
}

async function openHere(): Promise<Place> {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await openTestHost());
  const client = stack.use(
    await openOwnClient({
      ...{ dataDir: host.dataDir, command: [process.execPath, workerPath], env: {} },
      caller: createTestCaller(),
    }),
  );
  const owned = stack.move();
  return {
    backend: createBackend(client),
    createCommand: async () => (await host.create({ command: "true" })).session_id,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function openThere(): Promise<Place> {
  const gateway = await openTestGateway({ command: [process.execPath, workerPath] });
  const { url, token } = gateway;
  return {
    backend: openRemoteBackend(createClient({ url, token })),
    createCommand: async () => (await gateway.host.create({ command: "true" })).session_id,
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

const say = (content: string) => [{ content }];

describe.each([
  ["local", openHere],
  ["remote", openThere],
] as const)("a %s runtime", (_name, open) => {
  let place: Place;
  beforeAll(async () => {
    place = await open();
  });
  afterAll(async () => {
    await place[Symbol.asyncDispose]();
  });
  const create = (): Promise<Runtime> => place.backend.create({ source: inline, title: "T" });

  test("loads a team without making anything", async () => {
    const summary = await place.backend.load({ source: inline });
    expect(summary).toMatchObject({ default_agent: "root" });
    await expect(
      place.backend.load({ source: { kind: "inline", yaml: "agents: 1" } }),
    ).rejects.toMatchObject({ code: "team_invalid" });
  });

  test("tells of its agent, its team and its title", async () => {
    await using runtime = await create();
    expect(await runtime.currentAgent()).toMatchObject({ name: "root", description: "A test." });
    const summary = await place.backend.load({ source: inline });
    expect(await runtime.startup()).toEqual(summary);
    expect(await runtime.title()).toBe("T");
    await runtime.setTitle("U");
    expect(await runtime.title()).toBe("U");
    expect(await runtime.snapshot()).toMatchObject({ title: "U", activity: "idle" });
  });

  test("runs a turn, and its events are those of the log", async () => {
    await using runtime = await create();
    const { events_tail } = await runtime.snapshot();
    const run: unknown[] = [];
    for await (const item of runtime.run(say("hello"))) run.push(item);
    expect(run).toHaveLength(5);
    const log: unknown[] = [];
    for await (const item of runtime.events({ since: events_tail, follow: false })) log.push(item);
    expect(log).toEqual(run);
    expect(await runtime.transcript()).toMatchObject({ total: 2 });
  });

  test("a second run is busy, and an interrupt ends the first", async () => {
    await using runtime = await create();
    expect(await runtime.send(say("wait"))).toMatchObject({ status: "started" });
    const second = async () => {
      for await (const _item of runtime.run(say("two"))) throw new Error("it has begun");
    };
    await expect(second()).rejects.toMatchObject({ code: "busy" });
    expect([await runtime.interrupt(), await runtime.interrupt()]).toEqual([true, false]);
  });

  test("a run that nobody reads any more goes on", async () => {
    await using runtime = await create();
    const stopping = new AbortController();
    const read = async () => {
      for await (const _item of runtime.run(say("wait"), { signal: stopping.signal }))
        stopping.abort(new Error("enough"));
    };
    await expect(read()).rejects.toThrow("enough");
    expect(await runtime.snapshot()).toMatchObject({ activity: "running" });
  });

  test("an answer that nobody waits for is nothing_pending", async () => {
    await using runtime = await create();
    const answer = { approval_id: "none", decision: "approve" } as const;
    await expect(runtime.resume(answer)).rejects.toMatchObject({ code: "nothing_pending" });
  });

  test("listeners hear when the tools change, until they are let go", async () => {
    await using runtime = await create();
    let heard = 0;
    const listening = runtime.onToolsChanged(() => {
      heard += 1;
    });
    // It hears from the moment on that its stream has begun.
    await waitFor("it hears", async () => {
      for await (const _item of runtime.run(say("tools")));
      return heard > 0;
    });
    listening[Symbol.dispose]();
    listening[Symbol.dispose]();
    const before = heard;
    for await (const _item of runtime.run(say("tools")));
    expect(heard).toBe(before);
    await runtime[Symbol.asyncDispose]();
  });

  test("forks, and opens what is there and nothing else", async () => {
    await using runtime = await create();
    const forked = await runtime.fork(0);
    await using fork = await place.backend.open(forked);
    expect([fork.session_id, await fork.title()]).toEqual([forked, "T (fork 1)"]);
    await expect(place.backend.open("ses_0000000000000000")).rejects.toMatchObject({
      code: "session_not_found",
    });
    await expect(place.backend.open(await place.createCommand())).rejects.toMatchObject({
      code: "unsupported",
    });
  });
});

test("a server that has gone is named with its cause when the agent is to be another", async () => {
  const there = await openThere();
  const runtime = await there.backend.create({ source: inline });
  await there[Symbol.asyncDispose]();
  await expect(runtime.setCurrentAgent("silent")).rejects.toMatchObject({
    code: "host_unavailable",
    cause: expect.any(Error),
  });
});
