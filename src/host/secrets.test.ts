import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { findBinding } from "./find-binding.ts";
import { openSecrets, removeStaleSecrets } from "./secrets.ts";
import { openTestSessions } from "./testing/open-test-sessions.ts";

const ID = "ses_0123456789abcdef";

test("secrets are files for their owner alone, each session's in a folder of its own", () => {
  using dir = openTempDir();
  const folder = join(dir.path, "secrets");
  openSecrets(folder).give(ID);
  const modes = [folder, join(folder, "user"), join(folder, ID), join(folder, ID, "secret")].map(
    (path) => statSync(path).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o600, 0o700, 0o600]);
});

test("secrets are the same after a restart of the host, and differ between sessions", () => {
  using dir = openTempDir();
  openSecrets(dir.path).give(ID);
  const binding = findBinding({ secrets: dir.path }, { REINS_BOUND_SESSION_ID: ID });
  const users = findBinding({ secrets: dir.path }, {});
  const next = openSecrets(dir.path);
  expect(next.isOf(ID, binding?.secret ?? "")).toBe(true);
  expect(next.isUsers(users?.secret ?? "")).toBe(true);
  expect(next.isOf("ses_fedcba9876543210", binding?.secret ?? "")).toBe(false);
  expect(next.isUsers(binding?.secret ?? "")).toBe(false);
  expect(next.isOf(ID, users?.secret ?? "")).toBe(false);
});

test("a session that overwrites its file gains nothing", () => {
  using dir = openTempDir();
  const secrets = openSecrets(dir.path);
  secrets.give(ID);
  writeFileSync(join(dir.path, ID, "secret"), "chosen");
  expect(openSecrets(dir.path).isOf(ID, "chosen")).toBe(false);
});

test("a process is the user's where its session has no secret, and sends none where it can read none", () => {
  using dir = openTempDir();
  expect(findBinding({ secrets: dir.path }, { REINS_BOUND_SESSION_ID: ID })).toBe(undefined);
  openSecrets(dir.path);
  for (const named of [ID, "../user", "", undefined])
    expect(findBinding({ secrets: dir.path }, { REINS_BOUND_SESSION_ID: named })).toEqual({
      secret: readFileSync(join(dir.path, "user"), "utf8"),
    });
});

test("an agent and what it starts name the agent; what a person starts names no session", async () => {
  using dir = openTempDir();
  await using host = openTestSessions({ secrets: openSecrets(dir.path) });
  const named = async (request: Parameters<typeof host.open>[0]) => {
    const { session } = await host.open(request);
    return { id: session.id, bound: host.spawner.specs.at(-1)?.env.REINS_BOUND_SESSION_ID };
  };
  const shell = await named({});
  expect(shell.bound).toBe(undefined);
  const agent = await named({ kind: "agent", parent_session_id: shell.id });
  expect(agent.bound).toBe(agent.id);
  const command = await named({ kind: "command", parent_session_id: agent.id });
  const below = await named({ parent_session_id: command.id });
  expect([command.bound, below.bound]).toEqual([agent.id, agent.id]);
  const inner = await named({ kind: "agent", parent_session_id: command.id });
  expect(inner.bound).toBe(inner.id);
});

test("a secret is removed with its session, and one that a dying host left is removed by the next", async () => {
  using dir = openTempDir();
  const secrets = openSecrets(dir.path);
  await using host = openTestSessions({ secrets });
  const { session } = await host.open({ kind: "agent" });
  expect(existsSync(join(dir.path, session.id, "secret"))).toBe(true);
  await host.sessions.purge(session.id);
  expect(existsSync(join(dir.path, session.id))).toBe(false);
  host.spawner.failNext(Object.assign(new Error("no"), { code: "spawn_failed" }) as never);
  await expect(host.open({ kind: "agent" })).rejects.toThrow();
  mkdirSync(join(dir.path, ID));
  const { session: kept } = await host.open({ kind: "agent" });
  removeStaleSecrets(dir.path, host.folder);
  expect([ID, kept.id].map((id) => existsSync(join(dir.path, id)))).toEqual([false, true]);
});
