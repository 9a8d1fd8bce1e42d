import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { findBinding } from "#host/find-binding.ts";
import { openBoundHost } from "#host/testing/open-bound-host.ts";
import { acceptsUnbound, formatOwner, type Owner, parseOwner } from "./owner.ts";

const live = (sandbox?: string) => ({ isLive: true, record: { session_id: "ses_1", sandbox } });

test("a client without a secret is the user's while no sandboxed session lives", () => {
  expect(acceptsUnbound([])).toBe(true);
  expect(acceptsUnbound([live(), live("off")])).toBe(true);
  expect(acceptsUnbound([live(), { ...live("read-only"), isLive: false }])).toBe(true);
  expect(acceptsUnbound([live(), live("workspace-write")])).toBe(false);
});

test("a client without a secret is refused while a sandboxed session lives, and the user's is not", async () => {
  await using bound = await openBoundHost();
  const { session } = await bound.host.open();
  Object.assign(session.record, { sandbox: "read-only" });
  const old = await bound.connect(undefined);
  await expect(old.call("session.list", {})).rejects.toMatchObject({ code: "forbidden" });
  const user = await bound.user();
  expect((await user.call("session.list", {})).sessions).toHaveLength(1);
});

test("a wrong secret is refused, and so is everything behind it", async () => {
  await using bound = await openBoundHost();
  const { session: agent } = await bound.host.open({ kind: "agent" });
  const { session: other } = await bound.host.open({ kind: "agent" });
  const own = findBinding({ secrets: bound.secretsFolder }, { REINS_BOUND_SESSION_ID: agent.id });
  const users = findBinding({ secrets: bound.secretsFolder }, {});
  expect(own?.session_id).toBe(agent.id);
  const guesses = [
    { secret: randomBytes(32).toString("hex") },
    { secret: "" },
    { secret: own?.secret ?? "" },
    { session_id: agent.id, secret: users?.secret ?? "" },
    { session_id: other.id, secret: own?.secret ?? "" },
    { session_id: "ses_unknown", secret: own?.secret ?? "" },
    { session_id: "../user", secret: own?.secret ?? "" },
  ];
  for (const guess of guesses) {
    await expect(bound.connect(guess)).rejects.toMatchObject({ code: "forbidden" });
    const late = await bound.connect(undefined);
    await expect(late.call("connection.bind", guess)).rejects.toMatchObject({ code: "forbidden" });
    await expect(late.call("session.list", {})).rejects.toMatchObject({ code: "forbidden" });
  }
});

test("a connection is bound once, by its first request", async () => {
  await using bound = await openBoundHost();
  const { session: agent } = await bound.host.open({ kind: "agent" });
  const users = findBinding({ secrets: bound.secretsFolder }, {}) ?? { secret: "" };
  const client = await bound.session(agent.id);
  await expect(client.call("connection.bind", users)).rejects.toMatchObject({
    code: "invalid_request",
  });
  const begun = await bound.connect(undefined);
  await begun.call("session.list", {});
  await expect(begun.call("connection.bind", users)).rejects.toMatchObject({
    code: "invalid_request",
  });
});

test("a session that was removed has no connection any more", async () => {
  await using bound = await openBoundHost();
  const { session: agent } = await bound.host.open({ kind: "agent" });
  const binding = findBinding(
    { secrets: bound.secretsFolder },
    { REINS_BOUND_SESSION_ID: agent.id },
  );
  await bound.host.sessions.purge(agent.id);
  await expect(bound.connect(binding)).rejects.toMatchObject({ code: "forbidden" });
});

test("the owner of a connection is handed over", () => {
  const owners: Owner[] = [
    { kind: "unknown" },
    { kind: "user" },
    { kind: "refused" },
    { kind: "session", session_id: "ses_1" },
  ];
  expect(owners.map((owner) => parseOwner(formatOwner(owner)))).toEqual(owners);
});
