import { expect, test } from "vitest";
import { LOCAL_WORKSPACE } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { openTestStore } from "./testing/test-store.ts";

const task = { title: "t", work_dir: "/", issue_id: null, prior_session_id: null };

test("the local workspace is always there, and a store that lost it makes it again", () => {
  using test = openTestStore();
  const local = {
    workspace_id: LOCAL_WORKSPACE,
    name: "local",
    created_at: "2026-01-01T00:00:00.000Z",
  };
  expect(test.store.workspaces.find(LOCAL_WORKSPACE)).toEqual(local);
  expect(() => test.store.workspaces.remove(LOCAL_WORKSPACE)).toThrow(
    expect.objectContaining({ code: "conflict" }),
  );
  test.sql("DELETE FROM workspaces");
  expect(test.openAnother().workspaces.find(LOCAL_WORKSPACE)).toEqual(local);
});

test("a workspace is made, found, renamed and removed", () => {
  using test = openTestStore();
  const { workspaces } = test.store;
  const made = workspaces.create("one");
  expect(made.workspace_id).toMatch(/^wsp_[0-9a-z]{16}$/);
  expect(workspaces.find(made.workspace_id)).toEqual(made);
  expect(workspaces.rename(made.workspace_id, "two")).toEqual({ ...made, name: "two" });
  expect(workspaces.find(made.workspace_id)?.name).toBe("two");
  expect(workspaces.remove(made.workspace_id)).toEqual({ revoked: [] });
  expect(workspaces.find(made.workspace_id)).toBeUndefined();
  expect(workspaces.remove(made.workspace_id)).toBeUndefined();
  expect(workspaces.rename(made.workspace_id, "three")).toBeUndefined();
});

test("a workspace with tasks stays, with its tokens, until they are gone", () => {
  using test = openTestStore();
  const { workspace_id } = test.store.workspaces.create("one");
  const { secret } = test.token({ workspaces: [workspace_id] });
  const { task_id } = test.store.tasks.create({ ...task, workspace_id });
  expect(() => test.store.workspaces.remove(workspace_id)).toThrow(
    expect.objectContaining({ code: "conflict", details: { workspace_id } }),
  );
  expect(test.store.tokens.find(secret)).toBeDefined();
  test.store.tasks.remove(task_id);
  expect(test.store.workspaces.remove(workspace_id)).toBeDefined();
});

test("with a workspace go the tokens that were for it alone; the others lose it from their scope", () => {
  using test = openTestStore();
  const { workspaces, tokens } = test.store;
  const [a, b] = [workspaces.create("a").workspace_id, workspaces.create("b").workspace_id];
  const [alone, both, everywhere] = [[a], [a, b], "*" as const].map((scope) =>
    test.token({ workspaces: scope }),
  );
  if (alone === undefined || both === undefined) throw new Error("three were made");
  const cookie = tokens.createCookie(both.token);
  tokens.createCookie(alone.token);
  expect(workspaces.remove(a)).toEqual({ revoked: [alone.token.token_id] });
  expect(tokens.find(alone.secret)).toBeUndefined();
  expect(tokens.find(both.secret)?.workspaces).toEqual([b]);
  expect(tokens.find(cookie.secret)?.workspaces).toEqual([b]);
  expect(tokens.find(everywhere?.secret ?? "")?.workspaces).toBe("*");
});

test("there are as many workspaces as the limit says and no more", () => {
  using test = openTestStore();
  test.sql(`WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${limits.workspaces})
    INSERT INTO workspaces (workspace_id, name, created_at) SELECT 'wsp_' || i, '', '' FROM n`);
  expect(() => test.store.workspaces.create("more")).toThrow(
    expect.objectContaining({ code: "too_many", details: { limit: limits.workspaces } }),
  );
});
