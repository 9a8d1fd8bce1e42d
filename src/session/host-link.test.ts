import { expect, test } from "vitest";
import { locateDataDir } from "#host/data-dir.ts";
import { connectHost } from "#host/socket/client.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost } from "#test/harness/host.ts";
import { openHostLink } from "./host-link.ts";

test("all share one connection; one that ended is opened again by who asks next", async () => {
  await using host = await openTestHost();
  const { socket } = locateDataDir(host.dataDir);
  const heard: string[] = [];
  let opens = 0;
  using link = openHostLink(
    async () => {
      opens += 1;
      return await connectHost(socket);
    },
    { connected: () => heard.push("connected"), gone: () => heard.push("gone") },
  );
  expect(link.current).toBeUndefined();
  const [first, second] = await Promise.all([link.connect(), link.connect()]);
  expect([first === second, opens, link.current === first]).toEqual([true, 1, true]);
  first[Symbol.dispose]();
  await waitFor("it has gone", () => link.current === undefined);
  expect(await link.connect()).not.toBe(first);
  expect([opens, heard]).toEqual([2, ["connected", "gone", "connected"]]);
});

test("a failed attempt is told to who asked, and the next tries again", async () => {
  let opens = 0;
  using link = openHostLink(
    async () => {
      opens += 1;
      throw new Error(`no host ${opens}`);
    },
    { connected: () => undefined, gone: () => undefined },
  );
  await expect(link.connect()).rejects.toThrow("no host 1");
  await expect(link.connect()).rejects.toThrow("no host 2");
});

test("a connection that comes after the end is closed at once", async () => {
  await using host = await openTestHost();
  const link = openHostLink(() => connectHost(locateDataDir(host.dataDir).socket), {
    connected: () => undefined,
    gone: () => undefined,
  });
  const connecting = link.connect();
  link[Symbol.dispose]();
  await (await connecting).closed;
  expect(link.current).toBeUndefined();
});
