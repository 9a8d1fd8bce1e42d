import { expect, test } from "vitest";
import { LOCAL_WORKSPACE } from "#contract/ids.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import { collect, openTestStore } from "#store/testing/test-store.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { createAudit, createAuditOperations, createHostAudit } from "./audit.ts";

const ann = { user_id: "ann", token_id: "tok_ann" };

test("what was done is written down with who did it, when and to what", async () => {
  using test = openTestStore();
  test.clock.advance(5000);
  const audit = createAudit(test.store, test.clock);
  audit.record({
    ...{ action: "session.wrote", caller: ann, workspace_id: LOCAL_WORKSPACE },
    ...{ target_id: "ses_1", details: { bytes: 12 } },
  });
  audit.record({ action: "token.created", caller: createTestCaller() });
  const operations = createAuditOperations({ store: test.store }, createTestCaller());
  expect(await operations["audit.list"]({})).toEqual({
    entries: [
      {
        ...{ audit_id: 2, at: "2026-01-01T00:00:05.000Z", action: "token.created", details: {} },
        ...{ user_id: null, token_id: null, workspace_id: null, target_id: null },
      },
      {
        ...{ audit_id: 1, at: "2026-01-01T00:00:05.000Z", action: "session.wrote", ...ann },
        ...{ workspace_id: LOCAL_WORKSPACE, target_id: "ses_1", details: { bytes: 12 } },
      },
    ],
    cursor: null,
  });
});

test("an end that a rule caused is written down once, with its reason, and a program's own end is not", () => {
  using test = openTestStore();
  const audit = createHostAudit(test.store, test.clock);
  const exited_at = "2026-01-01T00:00:07.000Z";
  const session = (reason: "idle_timeout" | "exited", more = {}) =>
    ({
      ...{ session_id: "ses_1", workspace_id: LOCAL_WORKSPACE, exited_at },
      state: { kind: "exited", exit_code: 129, signal: "SIGHUP", reason, tail: 0, final: true },
      ...more,
    }) as unknown as Session;
  audit.ended(session("exited"));
  audit.ended(session("idle_timeout", { state: { kind: "running" }, exited_at: null }));
  audit.ended(session("idle_timeout"));
  audit.ended(session("idle_timeout"));
  audit.ended(session("idle_timeout", { exited_at: "2026-01-01T00:00:09.000Z" }));
  const { rows } = test.store.audit.list({ workspaces: "*", limit: 9 });
  expect(rows.map(({ at }) => at)).toEqual(["2026-01-01T00:00:09.000Z", exited_at]);
  expect(rows[1]).toMatchObject({
    ...{ action: "session.ended", user_id: null, target_id: "ses_1" },
    details: { reason: "idle_timeout", exit_code: 129, signal: "SIGHUP" },
  });
});

test("a removal is written down with its reason", () => {
  using test = openTestStore();
  const audit = createHostAudit(test.store, test.clock);
  const exited_at = "2026-01-01T00:00:00.000Z";
  const session = { session_id: "ses_1", workspace_id: LOCAL_WORKSPACE, exited_at };
  audit.removed(session as unknown as Session, "retention");
  const { rows } = test.store.audit.list({ workspaces: "*", limit: 9 });
  expect(rows).toMatchObject([
    { action: "session.removed", details: { reason: "retention", exited_at } },
  ]);
});

test("a row that cannot be written is logged and disturbs nobody", () => {
  using test = openTestStore();
  const said: string[] = [];
  const audit = createAudit(test.store, test.clock, collect(said));
  test.store[Symbol.dispose]();
  audit.record({ action: "task.created", caller: ann });
  expect(said).toEqual(["an action could not be audited"]);
});

test("rows are shown by workspace; those without one only to who sees all", async () => {
  using test = openTestStore();
  const own = test.store.workspaces.create("own").workspace_id;
  const audit = createAudit(test.store, test.clock);
  for (const workspace_id of [own, LOCAL_WORKSPACE, undefined])
    audit.record({ action: "task.created", caller: ann, workspace_id });
  const list = async (workspaces: "*" | [typeof own], workspace_id?: string) => {
    const caller = createTestCaller({ workspaces });
    const operations = createAuditOperations({ store: test.store }, caller);
    const { entries } = await operations["audit.list"](defined({ workspace_id }));
    return entries.map((entry) => entry.workspace_id);
  };
  expect(await list("*")).toEqual([null, LOCAL_WORKSPACE, own]);
  expect(await list("*", LOCAL_WORKSPACE)).toEqual([LOCAL_WORKSPACE]);
  expect(await list([own])).toEqual([own]);
  await expect(list([own], LOCAL_WORKSPACE)).rejects.toMatchObject({
    code: "workspace_not_found",
    message: `there is no workspace ${LOCAL_WORKSPACE}`,
  });
});

test("what was done in a workspace is still to be read when that is gone", async () => {
  using test = openTestStore();
  const { workspace_id } = test.store.workspaces.create("gone");
  createAudit(test.store, test.clock).record({
    ...{ action: "workspace.removed", caller: ann, workspace_id },
  });
  test.store.workspaces.remove(workspace_id);
  const operations = createAuditOperations({ store: test.store }, createTestCaller());
  expect((await operations["audit.list"]({ workspace_id })).entries).toHaveLength(1);
});

test("rows are found by user, action and target, page by page", async () => {
  using test = openTestStore();
  const audit = createAudit(test.store, test.clock);
  for (const target_id of ["a", "b", "a"])
    audit.record({ action: "task.changed", caller: ann, target_id });
  const operations = createAuditOperations({ store: test.store }, createTestCaller());
  const query = { user_id: "ann", action: "task.changed", target_id: "a" } as const;
  const page = await operations["audit.list"]({ ...query, limit: 1 });
  const rest = await operations["audit.list"]({ ...query, cursor: page.cursor ?? "" });
  expect([...page.entries, ...rest.entries].map((entry) => entry.audit_id)).toEqual([3, 1]);
});
