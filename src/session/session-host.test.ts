import fc from "fast-check";
import { expect, test } from "vitest";
import { locateDataDir } from "#host/data-dir.ts";
import type { HostClient } from "#host/socket/client.ts";
import { connectHost } from "#host/socket/connect-host.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { openRandom } from "#test/harness/random.ts";
import { openLocalHosts } from "./local-host.ts";
import { createScopedHosts } from "./scoped-host.ts";
import { FakeHost } from "./testing/fake-host.ts";
import { type MemoryHost, openMemoryHost, reconnect } from "./testing/memory-host.ts";
import {
  type ContractSetting,
  describeSessionHost,
  readText,
} from "./testing/session-host.contract.ts";

const leaseHost = leaseForFile(() => openTestHost());

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

function openPair(seed: number): Promise<MemoryHost> {
  const { below } = openRandom(seed);
  return openMemoryHost({ delayMs: 1, random: () => below(1000) / 1000 });
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
