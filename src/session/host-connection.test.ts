import { expect, test } from "vitest";
import { locateDataDir } from "#host/data-dir.ts";
import { connectHost } from "#host/socket/connect-host.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { HostConnection } from "./host-connection.ts";

const leaseHost = leaseForFile(() => openTestHost());

const unheard = { opened: () => undefined, lost: () => undefined };

test("all share one connection; one that ended is opened again by who asks next", async () => {
  await using host = await leaseHost();
  const { socket } = locateDataDir(host.dataDir);
  const heard: string[] = [];
  let opens = 0;
  using connection = new HostConnection(
    async () => {
      opens += 1;
      return await connectHost(socket);
    },
    { opened: () => heard.push("opened"), lost: () => heard.push("lost") },
  );
  expect([connection.current, connection.state]).toEqual([undefined, "idle"]);
  const [first, second] = await Promise.all([connection.get(), connection.get()]);
  expect([first === second, opens, connection.current === first]).toEqual([true, 1, true]);
  first[Symbol.dispose]();
  await waitFor("it is lost", () => connection.state === "unreachable");
  expect(await connection.get()).not.toBe(first);
  expect([opens, connection.state, heard]).toEqual([2, "open", ["opened", "lost", "opened"]]);
});

test("a failed attempt is told to who asked, and the next tries again", async () => {
  let opens = 0;
  using connection = new HostConnection(async () => {
    opens += 1;
    throw new Error(`no host ${opens}`);
  }, unheard);
  await expect(connection.get()).rejects.toThrow("no host 1");
  await expect(connection.get()).rejects.toThrow("no host 2");
});

test("a connection that comes after the end is closed at once", async () => {
  await using host = await leaseHost();
  const connection = new HostConnection(
    () => connectHost(locateDataDir(host.dataDir).socket),
    unheard,
  );
  const connecting = connection.get();
  connection[Symbol.dispose]();
  await (await connecting).closed;
  expect(connection.current).toBeUndefined();
});
