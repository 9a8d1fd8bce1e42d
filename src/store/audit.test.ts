import { expect, test } from "vitest";
import { LOCAL_WORKSPACE } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import type { AuditFact } from "./audit.ts";
import { createTicketSecret, createTokenSecret } from "./secret.ts";
import { openTestStore } from "./testing/test-store.ts";

const fact: AuditFact = {
  at: "2026-01-01T00:00:00.000Z",
  action: "task.created",
  user_id: "ann",
  token_id: "tok_0000000000000000",
  workspace_id: LOCAL_WORKSPACE,
  target_id: "tsk_0000000000000000",
  details: { issue_id: null, count: 3, is_new: true },
};
const all = { workspaces: "*", limit: 10 } as const;

test("a row says who did what, the newest first", () => {
  using test = openTestStore();
  const { audit } = test.store;
  audit.insert(fact);
  audit.insert({ ...fact, action: "task.removed", user_id: null, token_id: null });
  expect(test.openAnother().audit.list(all).rows).toEqual([
    { ...fact, audit_id: 2, action: "task.removed", user_id: null, token_id: null },
    { ...fact, audit_id: 1 },
  ]);
});

test("rows are found by workspace, user, action and target", () => {
  using test = openTestStore();
  const { audit } = test.store;
  audit.insert(fact);
  audit.insert({ ...fact, user_id: "bob", action: "task.removed", target_id: "x" });
  audit.insert({ ...fact, workspace_id: null });
  const ids = (query: object) => audit.list({ ...all, ...query }).rows.map((row) => row.audit_id);
  expect(ids({})).toEqual([3, 2, 1]);
  expect(ids({ workspaces: [LOCAL_WORKSPACE] })).toEqual([2, 1]);
  expect(ids({ workspace_id: LOCAL_WORKSPACE })).toEqual([2, 1]);
  expect(ids({ user_id: "bob" })).toEqual([2]);
  expect(ids({ action: "task.created" })).toEqual([3, 1]);
  expect(ids({ target_id: "x", user_id: "bob" })).toEqual([2]);
});

test("a secret that got among the details is not written, not even a part of it", () => {
  using test = openTestStore();
  const [token, ticket] = [createTokenSecret(), createTicketSecret()];
  const details = { text: `with ${token}, ${ticket}`, long: "x".repeat(480) + token };
  test.store.audit.insert({ ...fact, details });
  expect(test.store.audit.list(all).rows[0]?.details).toEqual({
    text: "with reins_…, reins_…",
    long: `${"x".repeat(480)}reins_…`,
  });
});

test("a long detail is cut", () => {
  using test = openTestStore();
  test.store.audit.insert({ ...fact, details: { text: "x".repeat(10_000) } });
  expect(test.store.audit.list(all).rows[0]?.details).toEqual({ text: "x".repeat(500) });
});

test("the oldest rows go when there are more than the limit", { timeout: 30_000 }, () => {
  using test = openTestStore();
  test.sql(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${limits.audit_rows})
    INSERT INTO audit (at, action, details) SELECT '2026-01-01T00:00:00.000Z', 'task.created', '{}' FROM n`);
  test.store.audit.insert(fact);
  test.store.audit.insert(fact);
  expect(test.sql("SELECT count(*) AS n, min(position) AS first FROM audit")).toEqual([
    { n: limits.audit_rows, first: 3 },
  ]);
});
