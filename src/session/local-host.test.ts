import { expect, test } from "vitest";
import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { Fault } from "#contract/fault.ts";
import { locateDataDir } from "#host/data-dir.ts";
import type { HostClient } from "#host/socket/client.ts";
import { connectHost } from "#host/socket/connect-host.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { openLocalHosts } from "./local-host.ts";

const leaseHost = leaseForFile(() => openTestHost());

test("everybody who follows a session shares one watch, and the last takes it along", async () => {
  await using host = await leaseHost();
  const { session_id } = await host.create({ argv: ["/bin/cat"], stdin: true });
  const local = host.hosts.of(session_id);
  const [first, second] = await Promise.all([local.open(session_id), local.open(session_id)]);
  expect(first.output).toBe(second.output);
  expect(local.followed).toBe(1);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect([local.followed, second.state]).toEqual([1, "open"]);
  second[Symbol.dispose]();
  expect([local.followed, second.state]).toEqual([0, "closed"]);
});

test("a session that is not there leaves nothing behind", async () => {
  await using host = await leaseHost();
  const sessionId = "ses_0000000000000000";
  const local = host.hosts.of(sessionId);
  const refused = expect.objectContaining({ code: "session_not_found" });
  await Promise.all([
    expect(local.open(sessionId)).rejects.toEqual(refused),
    expect(local.open(sessionId)).rejects.toEqual(refused),
  ]);
  expect(local.followed).toBe(0);
});

test("a lost connection is opened again, and handles continue where they were", async () => {
  await using host = await leaseHost();
  const clock = new ManualClock();
  const clients: HostClient[] = [];
  using hosts = openLocalHosts({
    open: async () => {
      const client = await connectHost(locateDataDir(host.dataDir).socket);
      clients.push(client);
      return client;
    },
    sessionsFolder: host.sessions,
    reconnect: { clock, log: silentLogger },
  });
  const { session_id } = await host.create({ argv: ["/bin/cat"], stdin: true });
  using handle = await hosts.of(session_id).open(session_id);
  const says = async (text: string) => {
    const data_b64 = Buffer.from(text).toString("base64");
    await host.client.call("session.input", { session_id, data_b64 });
  };
  await says("one\n");
  await handle.until(({ tail }) => tail === 4);
  const states: string[] = [];
  using _states = handle.on(() => states.push(handle.state));
  clients[0]?.[Symbol.dispose]();
  await waitFor("the connection is lost", () => handle.state === "unreachable");
  await says("two\n");
  clock.advance(250);
  await waitFor("the handle continues", () => handle.state === "open");
  expect(clients).toHaveLength(2);
  await says("three\n");
  await handle.until(({ tail }) => tail === 14);
  const chunk = await handle.output.read(4, { limit: 100, tail: 14 });
  expect(chunk?.kind === "bytes" && Buffer.from(chunk.bytes).toString()).toBe("two\nthree\n");
  expect(new Set(states)).toEqual(new Set(["unreachable", "open"]));
});

test("a handle is closed when its session was removed while the host could not be reached", async () => {
  await using host = await leaseHost();
  const clock = new ManualClock();
  let client: HostClient | undefined;
  using hosts = openLocalHosts({
    open: async () => {
      client = await connectHost(locateDataDir(host.dataDir).socket);
      return client;
    },
    sessionsFolder: host.sessions,
    reconnect: { clock, log: silentLogger },
  });
  const { session_id } = await host.create({ argv: ["/bin/cat"], stdin: true });
  using handle = await hosts.of(session_id).open(session_id);
  client?.[Symbol.dispose]();
  await waitFor("the connection is lost", () => handle.state === "unreachable");
  await host.client.call("session.close", { session_id, purge: true });
  clock.advance(250);
  await waitFor("the handle is closed", () => handle.state === "closed");
  await expect(hosts.of(session_id).open(session_id)).rejects.toMatchObject({
    code: "session_not_found",
  });
});

test("while no host answers the pauses grow, and an open waits for the next host", async () => {
  await using host = await leaseHost();
  const clock = new ManualClock();
  const clients: HostClient[] = [];
  let isThere = true;
  let attempts = 0;
  using hosts = openLocalHosts({
    open: async () => {
      attempts += 1;
      if (!isThere) throw new Fault("host_unavailable", "no host answers");
      const client = await connectHost(locateDataDir(host.dataDir).socket);
      clients.push(client);
      return client;
    },
    sessionsFolder: host.sessions,
    reconnect: { clock, log: silentLogger },
  });
  const { session_id } = await host.create({ argv: ["/bin/cat"], stdin: true });
  using handle = await hosts.of(session_id).open(session_id);
  isThere = false;
  clients[0]?.[Symbol.dispose]();
  await waitFor("the connection is lost", () => handle.state === "unreachable");
  for (const [ms, count] of [
    [250, 2],
    [250, 2],
    [250, 3],
    [1000, 4],
  ] as const) {
    clock.advance(ms);
    await waitFor("the attempt is over", () => clock.timers === 1);
    expect(attempts).toBe(count);
  }
  isThere = true;
  using again = await hosts.of(session_id).open(session_id);
  expect([again.state, handle.state]).toEqual(["open", "open"]);
});
