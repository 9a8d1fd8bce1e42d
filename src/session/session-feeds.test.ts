import { expect, test } from "vitest";
import { openTestHost } from "#test/harness/host.ts";
import { createHostLink } from "./host-link.ts";
import { SessionFeeds } from "./session-feeds.ts";

test("everybody who follows a session shares one watch, and the last takes it along", async () => {
  await using host = await openTestHost();
  const feeds = new SessionFeeds(createHostLink(host.client), host.sessions);
  const { session_id } = await host.create({ argv: ["/bin/cat"], stdin: true });
  const [first, second] = await Promise.all([feeds.open(session_id), feeds.open(session_id)]);
  expect(first.watch).toBe(second.watch);
  expect(feeds.size).toBe(1);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect([feeds.size, second.watch.isClosed]).toEqual([1, false]);
  second[Symbol.dispose]();
  expect([feeds.size, second.watch.isClosed]).toEqual([0, true]);
});

test("a session that is not there leaves nothing behind", async () => {
  await using host = await openTestHost();
  const feeds = new SessionFeeds(createHostLink(host.client), host.sessions);
  const open = () => feeds.open("ses_0000000000000000");
  const refused = expect.objectContaining({ code: "session_not_found" });
  await Promise.all([
    expect(open()).rejects.toEqual(refused),
    expect(open()).rejects.toEqual(refused),
  ]);
  expect(feeds.size).toBe(0);
});
