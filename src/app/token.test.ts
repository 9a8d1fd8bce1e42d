import { expect, test } from "vitest";
import { LOCAL_WORKSPACE, type WorkspaceId } from "#contract/ids.ts";
import { Token } from "#contract/token.ts";
import { openTestStore, type TestStore } from "#store/testing/test-store.ts";
import { type CallerParts, createTestCaller } from "#test/harness/caller.ts";
import { createAudit } from "./audit.ts";
import { createTokenOperations, findIdentity } from "./token.ts";

function openTokens(test: TestStore, caller: CallerParts = {}) {
  const deps = { store: test.store, audit: createAudit(test.store, test.clock) };
  return createTokenOperations(deps, createTestCaller(caller));
}

function makeWorkspaces({ store }: TestStore): [WorkspaceId, WorkspaceId] {
  return [store.workspaces.create("a").workspace_id, store.workspaces.create("b").workspace_id];
}

test("a token's secret is in the answer that made it and nowhere else", async () => {
  using test = openTestStore();
  const operations = openTokens(test, { user_id: "root", token_id: "tok_root" });
  const { secret, ...token } = await operations["token.create"]({
    ...{ user_id: "ann", role: "viewer", label: "ci", expires_in_ms: 1000 },
  });
  expect(Token.parse(token)).toMatchObject({ label: "ci", expires_at: "2026-01-01T00:00:01.000Z" });
  expect(findIdentity(test.store, secret)?.token_id).toBe(token.token_id);
  const { tokens } = await operations["token.list"]({});
  expect(tokens.map((row) => Token.parse(row).token_id)).toEqual([token.token_id]);
  const { rows } = test.store.audit.list({ workspaces: "*", limit: 9 });
  expect(JSON.stringify([tokens, rows])).not.toContain(secret);
  expect(rows).toMatchObject([
    {
      ...{ action: "token.created", user_id: "root", token_id: "tok_root", workspace_id: null },
      ...{
        target_id: token.token_id,
        details: { user_id: "ann", role: "viewer", workspaces: "*" },
      },
    },
  ]);
});

test("a token without workspaces gets those of who makes it", async () => {
  using test = openTestStore();
  const [a] = makeWorkspaces(test);
  const input = { user_id: "ann", role: "viewer" } as const;
  const everywhere = await openTokens(test)["token.create"](input);
  const limited = await openTokens(test, { workspaces: [a] })["token.create"](input);
  expect([everywhere.workspaces, limited.workspaces]).toEqual(["*", [a]]);
});

test("an administrator of some workspaces gives no more than he has", async () => {
  using test = openTestStore();
  const [a, b] = makeWorkspaces(test);
  const operations = openTokens(test, { workspaces: [a] });
  const create = (workspaces: "*" | string[]) =>
    operations["token.create"]({ user_id: "ann", role: "admin", workspaces });
  await expect(create("*")).rejects.toMatchObject({ code: "forbidden" });
  const foreign = await create([a, b]).catch((error) => error);
  const unknown = await create([a, "wsp_0000000000000000"]).catch((error) => error);
  expect([foreign.code, unknown.code]).toEqual(["workspace_not_found", "workspace_not_found"]);
  expect(foreign.message.replace(b, "")).toBe(unknown.message.replace("wsp_0000000000000000", ""));
  expect((await create([a])).workspaces).toEqual([a]);
  expect(test.store.tokens.list({ workspaces: "*", limit: 9 }).rows).toHaveLength(1);
});

test("who sees all is told of a workspace that does not exist in the same words", async () => {
  using test = openTestStore();
  const workspaces = ["wsp_0000000000000000"];
  const create = openTokens(test)["token.create"]({ user_id: "ann", role: "admin", workspaces });
  await expect(create).rejects.toMatchObject({
    code: "workspace_not_found",
    message: "there is no workspace wsp_0000000000000000",
    details: { workspace_id: "wsp_0000000000000000" },
  });
});

test("an administrator of some workspaces sees and ends only tokens within them", async () => {
  using test = openTestStore();
  const [a, b] = makeWorkspaces(test);
  const inA = test.token({ workspaces: [a] });
  const outside = [test.token({ workspaces: [a, b] }), test.token({ workspaces: "*" })];
  const operations = openTokens(test, { workspaces: [a] });
  const { tokens } = await operations["token.list"]({});
  expect(tokens.map(({ token_id }) => token_id)).toEqual([inA.token.token_id]);
  const refusal = (token_id: string) =>
    operations["token.revoke"]({ token_id }).catch(({ code, message, details }) =>
      JSON.stringify({ code, message, details }).replaceAll(token_id, "ID"),
    );
  const unknown = await refusal("tok_0000000000000000");
  expect(unknown).toContain("token_not_found");
  for (const { token, secret } of outside) {
    expect(await refusal(token.token_id)).toBe(unknown);
    expect(findIdentity(test.store, secret)).toBeDefined();
  }
  await operations["token.revoke"]({ token_id: inA.token.token_id });
  expect(findIdentity(test.store, inA.secret)).toBeUndefined();
});

test("revoking ends a token with its browsers and is audited where the token belonged", async () => {
  using test = openTestStore();
  const { token, secret } = test.token({ workspaces: [LOCAL_WORKSPACE] });
  const cookie = test.store.tokens.createCookie(token);
  const operations = openTokens(test);
  const { token_id } = token;
  const viaCookie = operations["token.revoke"]({ token_id: cookie.token.token_id });
  await expect(viaCookie).rejects.toMatchObject({ code: "token_not_found" });
  expect(await operations["token.revoke"]({ token_id })).toEqual({});
  expect([secret, cookie.secret].map((one) => findIdentity(test.store, one))).toEqual([
    undefined,
    undefined,
  ]);
  await expect(operations["token.revoke"]({ token_id })).rejects.toMatchObject({
    code: "token_not_found",
  });
  expect(test.store.audit.list({ workspaces: [LOCAL_WORKSPACE], limit: 9 }).rows).toMatchObject([
    { action: "token.revoked", target_id: token_id, details: { user_id: "ann" } },
  ]);
});

test("tokens are listed by user and page by page", async () => {
  using test = openTestStore();
  for (const user_id of ["ann", "bob", "ann"]) test.token({ user_id });
  const operations = openTokens(test);
  const page = await operations["token.list"]({ user_id: "ann", limit: 1 });
  const rest = await operations["token.list"]({ user_id: "ann", cursor: page.cursor ?? "" });
  expect([...page.tokens, ...rest.tokens].map(({ user_id }) => user_id)).toEqual(["ann", "ann"]);
});

test("a caller is told who he is", async () => {
  using test = openTestStore();
  const { token } = test.token({ expires_in_ms: 1000 });
  const { token_id, role, user_id } = token;
  const caller = { token_id, role, user_id, workspaces: [LOCAL_WORKSPACE] };
  expect(await openTokens(test, caller)["caller.get"]({})).toEqual({
    ...{ user_id: "ann", role: "operator", workspaces: [LOCAL_WORKSPACE] },
    ...{ expires_at: "2026-01-01T00:00:01.000Z", work_dir: "/" },
  });
  expect(await openTokens(test)["caller.get"]({})).toEqual({
    ...{ user_id: "local", role: "admin", workspaces: "*", expires_at: null, work_dir: "/" },
  });
});

test("a browser that logs out ends its own cookie and nothing else", async () => {
  using test = openTestStore();
  const { token, secret } = test.token();
  const { token_id } = token;
  const [one, other] = [
    test.store.tokens.createCookie(token),
    test.store.tokens.createCookie(token),
  ];
  const logOut = (cookie_id?: string) =>
    openTokens(test, { token_id, cookie_id })["caller.logout"]({});
  expect(await logOut(one.token.token_id)).toEqual({});
  expect(findIdentity(test.store, one.secret)).toBeUndefined();
  for (const kept of [other.secret, secret]) expect(findIdentity(test.store, kept)).toBeDefined();
  // Who has no cookie, or none any more, is out already; a token is no cookie.
  for (const id of [undefined, one.token.token_id, token_id]) expect(await logOut(id)).toEqual({});
  expect(findIdentity(test.store, secret)).toBeDefined();
  const { rows } = test.store.audit.list({
    limit: 10,
    workspaces: "*",
    action: "caller.logged_out",
  });
  expect(rows).toMatchObject([{ token_id, target_id: token_id }]);
});

test("what is no secret is not even looked up", () => {
  using test = openTestStore();
  const { secret } = test.token();
  expect(findIdentity(test.store, secret)).toBeDefined();
  expect(
    ["", "Bearer x", `${secret}x`, "reins_"].map((one) => findIdentity(test.store, one)),
  ).toEqual(Array(4).fill(undefined));
});
