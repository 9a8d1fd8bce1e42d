import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { createScopedHosts } from "./scoped-host.ts";

const leaseHost = leaseForFile(() => openTestHost());

const sleep = { argv: ["sleep", "1000"] };

test("the host tells of the one session alone", async () => {
  await using host = await leaseHost();
  const { session_id: own } = await host.create(sleep);
  const [only] = createScopedHosts(host.hosts, () => own).all();
  const heard: string[] = [];
  using _listener = only.watchAll({
    isNeeded: () => false,
    connected: () => undefined,
    changed: (sessionId) => void heard.push(sessionId),
  });
  await only.connect();
  const { session_id: other } = await host.create(sleep);
  await host.client.call("session.rename", { session_id: other, title: "other" });
  await host.client.call("session.rename", { session_id: own, title: "own" });
  await waitFor("the change is heard of", () => heard.length > 0);
  expect(new Set(heard)).toEqual(new Set([own]));
  for (const call of [
    only.call("session.get", { session_id: other }),
    only.call("session.close", { session_id: other }),
    only.attach({ session_id: other, viewer: "v", role: "viewer", takeover: false }),
    only.open(other),
  ])
    await expect(call).rejects.toMatchObject({ code: "session_not_found" });
  for (const call of [
    only.call("host.shutdown", {}),
    only.call("host.upgrade", { command: ["true"] }),
    only.call("session.create", { kind: "command", work_dir: "/", env: {}, ...sleep }),
  ])
    await expect(call).rejects.toMatchObject({ code: "unsupported" });
  using handle = await only.open(own);
  expect(handle.session.title).toBe("own");
});

test("while the session is not known there is none", async () => {
  await using host = await leaseHost();
  const { session_id } = await host.create(sleep);
  const [only] = createScopedHosts(host.hosts, () => undefined).all();
  expect(await only.call("session.list", {})).toMatchObject({ sessions: [] });
  await expect(only.call("session.get", { session_id })).rejects.toMatchObject({
    code: "session_not_found",
  });
});
