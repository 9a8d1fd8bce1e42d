import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { hashSecret, isTokenSecret } from "./secret.ts";
import { openTestStore, type TestStore } from "./testing/test-store.ts";

const all = { workspaces: "*", limit: 1000 } as const;

function makeWorkspaces({ store }: TestStore): [WorkspaceId, WorkspaceId] {
  return [store.workspaces.create("a").workspace_id, store.workspaces.create("b").workspace_id];
}

test("a secret is reins_ and 32 random bytes, and finds its token", () => {
  using test = openTestStore();
  const { token, secret } = test.token({ label: "ci", role: "viewer" });
  expect(secret).toMatch(/^reins_[A-Za-z0-9_-]{43}$/);
  expect(isTokenSecret(secret)).toBe(true);
  expect(test.openAnother().tokens.find(secret)).toEqual(token);
  expect(token).toMatchObject({ label: "ci", user_id: "ann", role: "viewer", workspaces: "*" });
});

test("no file of the store holds a secret, only its hash", () => {
  using test = openTestStore();
  const { token, secret } = test.token();
  const ticket = test.store.tickets.create(token.token_id).secret;
  const files = [test.path, `${test.path}-wal`].map((file) => readFileSync(file));
  const holds = (text: string | Buffer) => files.some((file) => file.includes(text));
  expect(holds(secret.slice(6)) || holds(ticket.slice(13))).toBe(false);
  expect(holds(hashSecret(secret))).toBe(true);
});

test("an unknown, an almost right and an empty secret find nothing", () => {
  using test = openTestStore();
  const { secret } = test.token();
  const almost = secret.slice(0, -1) + (secret.endsWith("A") ? "B" : "A");
  expect(["", "reins_", almost, `${secret} `].map((text) => test.store.tokens.find(text))).toEqual(
    Array(4).fill(undefined),
  );
});

test("a token ends at its expiry, is in no list any more and is swept by the next write", () => {
  using test = openTestStore();
  const { token, secret } = test.token({ expires_in_ms: 1000 });
  test.clock.advance(999);
  expect(test.store.tokens.find(secret)?.expires_at).toBe("2026-01-01T00:00:01.000Z");
  test.clock.advance(1);
  expect(test.store.tokens.find(secret)).toBeUndefined();
  expect(test.store.tokens.findById(token.token_id)).toBeUndefined();
  expect(test.store.tokens.list(all).rows).toEqual([]);
  test.token();
  expect(test.sql("SELECT token_id FROM tokens")).toHaveLength(1);
});

test("its use is noted, at most once a minute", () => {
  using test = openTestStore();
  const { token, secret } = test.token();
  const lastUse = () => test.store.tokens.findById(token.token_id)?.last_used_at;
  test.store.tokens.find(secret);
  expect(lastUse()).toBe("2026-01-01T00:00:00.000Z");
  test.clock.advance(59_999);
  test.store.tokens.find(secret);
  expect(lastUse()).toBe("2026-01-01T00:00:00.000Z");
  test.clock.advance(1);
  test.store.tokens.find(secret);
  expect(lastUse()).toBe("2026-01-01T00:01:00.000Z");
});

test("a store that cannot be written to lets its tokens in all the same", () => {
  using test = openTestStore();
  const { token, secret } = test.token();
  test.sql("CREATE TRIGGER no BEFORE UPDATE ON tokens BEGIN SELECT RAISE(ABORT, 'no'); END");
  expect(test.store.tokens.find(secret)).toEqual(token);
  expect(test.said).toEqual(["the use of a token was not noted"]);
});

test("revoking a token ends its cookies and its tickets at once, and no other token's", () => {
  using test = openTestStore();
  const { tokens, tickets } = test.store;
  const [one, other] = [test.token(), test.token()];
  const cookie = tokens.createCookie(one.token);
  const ticket = tickets.create(one.token.token_id);
  const spared = tokens.createCookie(other.token);
  expect(test.openAnother().tokens.revoke(one.token.token_id)).toBe(true);
  expect(tokens.find(one.secret)).toBeUndefined();
  expect(tokens.find(cookie.secret)).toBeUndefined();
  expect(tickets.take(ticket.secret)).toBeUndefined();
  expect(tokens.find(spared.secret)?.root_token_id).toBe(other.token.token_id);
  expect(tokens.revoke(one.token.token_id)).toBe(false);
});

test("a cookie has the rights of its root, is in no list and cannot be revoked by itself", () => {
  using test = openTestStore();
  const { tokens } = test.store;
  const [a] = makeWorkspaces(test);
  const { token } = test.token({ role: "viewer", workspaces: [a] });
  const cookie = tokens.createCookie(token);
  const again = tokens.createCookie(cookie.token);
  const expected = { user_id: "ann", role: "viewer", workspaces: [a], kind: "cookie" };
  const root = { parent_token_id: token.token_id, root_token_id: token.token_id };
  expect(tokens.find(cookie.secret)).toMatchObject({ ...expected, ...root });
  expect(tokens.find(again.secret)).toMatchObject({ ...expected, ...root });
  expect(tokens.list(all).rows.map((row) => row.token_id)).toEqual([token.token_id]);
  expect(tokens.revoke(cookie.token.token_id)).toBe(false);
});

test("a cookie ends after its time, and never after its root", () => {
  using test = openTestStore();
  const long = test.store.tokens.createCookie(test.token().token);
  const short = test.store.tokens.createCookie(test.token({ expires_in_ms: 5000 }).token);
  expect(long.token.expires_at).toBe(new Date(test.clock.now() + limits.cookie_ms).toISOString());
  expect(short.token.expires_at).toBe(new Date(test.clock.now() + 5000).toISOString());
  test.clock.advance(5000);
  expect(test.store.tokens.find(short.secret)).toBeUndefined();
  expect(() => test.store.tokens.createCookie(short.token)).toThrow(
    expect.objectContaining({ code: "unauthenticated" }),
  );
});

test("using a cookie is using its root", () => {
  using test = openTestStore();
  const { token } = test.token();
  test.store.tokens.find(test.store.tokens.createCookie(token).secret);
  expect(test.store.tokens.findById(token.token_id)?.last_used_at).not.toBeNull();
});

test("the hundred-and-first browser of a token puts its first one out", () => {
  using test = openTestStore();
  const { token } = test.token();
  const secrets = Array.from({ length: 101 }, () => test.store.tokens.createCookie(token).secret);
  const isIn = secrets.map((secret) => test.store.tokens.find(secret) !== undefined);
  expect(isIn).toEqual([false, ...Array(100).fill(true)]);
});

test("a scope shows only the tokens that reach nothing outside of it", () => {
  using test = openTestStore();
  const [a, b] = makeWorkspaces(test);
  const inA = test.token({ workspaces: [a] }).token.token_id;
  const inB = test.token({ workspaces: [b], user_id: "bob" }).token.token_id;
  const inBoth = test.token({ workspaces: [a, b, a] }).token;
  const everywhere = test.token().token.token_id;
  const list = (workspaces: "*" | WorkspaceId[], user_id?: string) =>
    test.store.tokens.list({ workspaces, user_id, limit: 9 }).rows.map((row) => row.token_id);
  expect(inBoth.workspaces).toEqual([a, b]);
  expect(list([a])).toEqual([inA]);
  expect(list([b, a])).toEqual([inBoth.token_id, inB, inA]);
  expect(list("*")).toEqual([everywhere, inBoth.token_id, inB, inA]);
  expect(list("*", "bob")).toEqual([inB]);
});

test("a token for a workspace that does not exist is refused and not made", () => {
  using test = openTestStore();
  const [a, b] = makeWorkspaces(test);
  test.store.workspaces.remove(b);
  expect(() => test.token({ workspaces: [a, b] })).toThrow(
    expect.objectContaining({ code: "workspace_not_found", details: { workspace_id: b } }),
  );
  expect(test.store.tokens.list(all).rows).toEqual([]);
});

test("there are as many tokens as the limit says and no more; cookies do not count", () => {
  using test = openTestStore();
  const { token } = test.token();
  test.store.tokens.createCookie(token);
  test.sql(`WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${limits.tokens})
    INSERT INTO tokens (token_id, kind, secret_hash, label, user_id, role, is_everywhere, created_at)
    SELECT 'tok_' || i, 'token', CAST(i AS BLOB), '', 'x', 'viewer', 1, '' FROM n`);
  expect(() => test.token()).toThrow(expect.objectContaining({ code: "too_many" }));
  test.sql("DELETE FROM tokens WHERE token_id = 'tok_2'");
  expect(test.token().token.kind).toBe("token");
});

test("a token whose scope was damaged lets nobody in", () => {
  using test = openTestStore();
  const [a] = makeWorkspaces(test);
  const { secret } = test.token({ workspaces: [a] });
  test.sql("DELETE FROM token_workspaces");
  expect(test.store.tokens.find(secret)).toBeUndefined();
});
