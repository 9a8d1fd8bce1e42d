import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RECORD_FILE } from "#host/session/session-record.ts";
import { openTestSessions, type TestSessions } from "#host/testing/open-test-sessions.ts";
import type { CreateRequest } from "./create-request.ts";

const openAgent = (host: TestSessions) => host.open({ kind: "agent", argv: ["agent"] });
const line = (event: object) => `${JSON.stringify({ at: "2026-01-01T00:00:00.000Z", ...event })}\n`;
const info = line({ type: "agent.info", name: "root", model: "m" });
const started = line({ type: "turn.started", turn_id: "t" });
const asked = line({
  type: "approval.requested",
  approval_id: "a",
  kind: "tool",
  message: "May I?",
});
const said = (text: string) => line({ type: "message.end", text });

test("a session that has started is published as running", async () => {
  await using host = openTestSessions();
  const seen: unknown[] = [];
  using _changes = host.sessions.changes.on((id) => seen.push(host.sessions.get(id).view().status));
  await host.open({ kind: "terminal", argv: ["sh"] });
  expect(seen).toEqual(["starting", "running"]);
});

test("an agent's status follows its lines, and a question is published at once", async () => {
  await using host = openTestSessions();
  const { session, child } = await openAgent(host);
  expect(session.view().status).toBe("starting");
  child.print(info);
  expect(session.view()).toMatchObject({ status: "idle", agent: "root", model: "m" });
  child.print(`${started}${asked.slice(0, 10)}`);
  expect(session.view()).toMatchObject({ status: "working", turn: { turn_id: "t" }, needs: [] });
  let changes = 0;
  using _changes = session.changes.on(() => {
    changes += 1;
  });
  child.print(asked.slice(10));
  expect(changes).toBe(1);
  expect(session.view()).toMatchObject({
    ...{ status: "needs_you", last_line: "asks: May I?" },
    needs: [{ id: "a", kind: "approval", summary: "May I?" }],
  });
  child.exit();
  child.finish();
  expect(session.view()).toMatchObject({ status: "needs_you", state: { kind: "exited" } });
  await host.sessions.close(session.id, "user_requested");
  expect(session.view()).toMatchObject({ status: "ended", needs: [], turn: null });
});

test("a last line is published at once, and further ones at most twice a second", async () => {
  await using host = openTestSessions();
  const { session, child } = await openAgent(host);
  child.print(info);
  host.clock.advance(1000);
  const seen: string[] = [];
  using _changes = session.changes.on(() => seen.push(session.view().last_line));
  for (const text of ["one", "two", "three"]) child.print(said(text));
  expect(seen).toEqual(["one"]);
  host.clock.advance(499);
  expect(seen).toEqual(["one"]);
  host.clock.advance(1);
  expect(seen).toEqual(["one", "three"]);
});

test("a question is on disk at once", async () => {
  await using host = openTestSessions();
  const { session, child } = await openAgent(host);
  child.print(`${info}${started}${asked}`);
  const record = JSON.parse(readFileSync(join(session.dir, RECORD_FILE), "utf8"));
  expect(record.agent_status.needs).toHaveLength(1);
});

test("the next host knows the status of every session without reading its log, and completes an old record once", async () => {
  await using host = openTestSessions();
  const { session, child } = await openAgent(host);
  child.print(`${info}${started}${asked}`);
  child.exit();
  child.finish();
  const before = session.view();
  const path = join(session.dir, RECORD_FILE);
  const { agent_status, ...old } = JSON.parse(readFileSync(path, "utf8"));
  expect(agent_status.read).toBe(session.eventsTail);
  const same = await host.reopen();
  expect(same.sessions.get(session.id).view()).toMatchObject({
    status: "needs_you",
    needs: before.needs,
  });
  writeFileSync(path, JSON.stringify(old));
  const next = await host.reopen();
  expect(next.sessions.get(session.id).view()).toMatchObject({
    status: "needs_you",
    needs: before.needs,
  });
  expect(JSON.parse(readFileSync(path, "utf8")).agent_status).toEqual(agent_status);
});

test("a program that takes over knows the status, also from one that knew none", async () => {
  await using host = openTestSessions();
  const { session, child } = await openAgent(host);
  child.print(`${info}${started}${asked}`);
  const { needs } = session.view();
  await host.open({ kind: "terminal", argv: ["sh"] });
  session.record.agent_status = undefined;
  const next = await host.succeed();
  expect(next.sessions.get(session.id).view()).toMatchObject({ status: "needs_you", needs });
});

test("the last line of output is kept when the command ends", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open({ kind: "command", argv: ["make"] });
  child.print("one\n\u001b[31mtwo\u001b[0m\n");
  expect(session.view().last_line).toBe("two");
  child.exit();
  child.print("three");
  child.finish();
  expect(session.view()).toMatchObject({ status: "ended", last_line: "three" });
});

test("a name is unique among the live sessions of a workspace, and free again after the end", async () => {
  await using host = openTestSessions();
  const command: Partial<CreateRequest> = { kind: "command", argv: ["make"] };
  const { session, child } = await host.open({ ...command, name: "build" });
  expect(session.view().name).toBe("build");
  await expect(host.open({ ...command, name: "build" })).rejects.toMatchObject({
    code: "conflict",
  });
  const other = await host.open({
    ...command,
    name: "build",
    labels: { workspace_id: "wsp_other" },
  });
  expect(other.session.view().name).toBe("build");
  const third = await host.open(command);
  const rename = (name: string | null) =>
    host.sessions.rename({ session_id: third.session.id, name }).view().name;
  expect(() => rename("build")).toThrow("taken");
  expect(rename("test")).toBe("test");
  expect(rename("test")).toBe("test");
  expect(rename(null)).toBeNull();
  child.exit();
  child.finish();
  expect(rename("build")).toBe("build");
});
