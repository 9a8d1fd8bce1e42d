import { connect } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "#base/clock.ts";
import { silentLogger } from "#base/logger.ts";
import { Fault } from "#contract/fault.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { type HostClient, openHostClient } from "#host/socket/client.ts";
import { connectHost } from "#host/socket/connect-host.ts";
import type { HostHealth } from "#host/socket/methods.ts";
import { openHostServer } from "#host/socket/server.ts";
import { openTestSessions } from "#host/testing/open-test-sessions.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { openRandom } from "#test/harness/random.ts";
import { openLocalHosts } from "./local-host.ts";
import { createScopedHosts } from "./scoped-host.ts";
import { FakeHost } from "./testing/fake-host.ts";
import { createMemoryPair, type MemoryPair } from "./testing/memory-pair.ts";
import {
  type ContractSetting,
  describeSessionHost,
  readText,
} from "./testing/session-host.contract.ts";

const leaseHost = leaseForFile(() => openTestHost());

/** Time that passes at once: the suite claims nothing about pauses. */
const quick: Clock = { ...systemClock, timer: (_, run) => systemClock.timer(1, run) };
const reconnect = { clock: quick, log: silentLogger };

describeSessionHost("the unix socket of a host", openUnix);

describeSessionHost("a host that shows one session", async () => {
  const setting = await openUnix();
  return { ...setting, hosts: createScopedHosts(setting.hosts, () => setting.sessionId) };
});

describeSessionHost("a connection that delays and splits", () => openPair(1));

describeSessionHost("the fake", openFake);

test("through any cuts, splits and lost messages a reader has each byte once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.array(fc.constantFrom("print", "cut", "lose"), steps), check),
    { numRuns: 15 },
  );
});

const steps = { minLength: 1, maxLength: 12 };

async function check(seed: number, plan: readonly ("print" | "cut" | "lose")[]): Promise<void> {
  await using setting = await openPair(seed);
  using handle = await setting.hosts.of(setting.sessionId).open(setting.sessionId);
  let printed = "";
  let seen = "";
  for (const [n, step] of plan.entries()) {
    if (step === "cut") setting.cut();
    else if (step === "lose") setting.loseLast();
    else {
      const text = `<${n}>`;
      printed += text;
      await setting.print(text);
    }
    seen += await readText(handle, seen.length);
  }
  const { length } = printed;
  await handle.until(({ tail }) => tail >= length);
  seen += await readText(handle, seen.length);
  expect(seen).toBe(printed);
}

async function openUnix(): Promise<ContractSetting> {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await leaseHost());
  const clients: HostClient[] = [];
  const hosts = stack.use(
    openLocalHosts({
      open: async () => {
        const client = await connectHost(locateDataDir(host.dataDir).socket);
        clients.push(client);
        return client;
      },
      sessionsFolder: host.sessions,
      reconnect,
    }),
  );
  const { session_id } = await host.create({ argv: ["/bin/cat"], stdin: true });
  const look = () => host.client.call("session.get", { session_id });
  const owned = stack.move();
  return {
    hosts,
    sessionId: session_id,
    print: async (text) => {
      const { tail } = await look();
      const data_b64 = Buffer.from(text).toString("base64");
      await host.client.call("session.input", { session_id, data_b64 });
      await waitFor("it is printed", async () => (await look()).tail >= tail + text.length);
    },
    exit: async () => void (await host.client.call("session.input", { session_id, eof: true })),
    remove: async () => void (await host.client.call("session.close", { session_id, purge: true })),
    cut: () => {
      for (const client of clients) client[Symbol.dispose]();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A host's server in this process, and a pair of streams in memory between it and its clients. */
async function openPair(seed: number): Promise<ContractSetting & { loseLast(): void }> {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(openTestSessions());
  const path = join(host.folder, "s");
  stack.use(
    await openHostServer(path, {
      sessions: host.sessions,
      log: silentLogger,
      version: "test",
      // Only its shape matters here.
      health: () => ({ pid: 1 }) as HostHealth,
      shutdown: () => undefined,
      upgrade: () => Promise.reject(new Error("not here")),
      onConnections: () => undefined,
    }),
  );
  const { below } = openRandom(seed);
  const random = () => below(1000) / 1000;
  const pairs: MemoryPair[] = [];
  const hosts = stack.use(
    openLocalHosts({
      open: async () => {
        const pair = createMemoryPair({ clock: systemClock, delayMs: 1, random });
        pairs.push(pair);
        const socket = connect(path);
        socket.on("error", () => pair.cut());
        pair.far.pipe(socket).pipe(pair.far);
        pair.far.on("close", () => socket.destroy());
        const gone = () => new Fault("host_unavailable", "the pair was cut");
        const describeSilence = async () => gone();
        return await openHostClient(pair.near, { describeSilence, describeEnd: gone });
      },
      sessionsFolder: host.folder,
      reconnect,
    }),
  );
  const { session, child } = await host.open({ kind: "command", stdin: true });
  const write = child.write.bind(child);
  child.write = (bytes) => {
    write(bytes);
    child.print(bytes);
  };
  const owned = stack.move();
  return {
    hosts,
    sessionId: session.id,
    print: async (text) => child.print(text),
    exit: async () => child.exit(),
    remove: async () => void (await host.sessions.purge(session.id)),
    cut: () => pairs.at(-1)?.cut(),
    loseLast: () => pairs.at(-1)?.loseLast(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function openFake(): Promise<ContractSetting> {
  const fake = new FakeHost();
  const sessionId = fake.add();
  const state = { kind: "exited", exit_code: 0, signal: null, reason: "exited" } as const;
  return {
    hosts: fake.hosts,
    sessionId,
    print: async (text) => fake.print(sessionId, text),
    exit: async () => fake.enter(sessionId, { ...state, tail: 0, final: true }),
    remove: async () => fake.remove(sessionId),
    cut: () => fake.cut(),
    [Symbol.asyncDispose]: async () => undefined,
  };
}
