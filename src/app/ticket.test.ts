import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { openTestStore, type TestStore } from "#store/testing/test-store.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { createAudit } from "./audit.ts";
import { createTicketOperations, exchangeTicket } from "./ticket.ts";
import { findIdentity } from "./token.ts";

function openTickets(test: TestStore, token_id?: string) {
  const deps = { store: test.store, audit: createAudit(test.store, test.clock) };
  const caller = createTestCaller({ token_id, user_id: "ann" });
  return { deps, operations: createTicketOperations(deps, caller) };
}

test("a ticket becomes a cookie with the rights of its token, once", async () => {
  using test = openTestStore();
  const { token } = test.token({ role: "viewer" });
  const { deps, operations } = openTickets(test, token.token_id);
  const { ticket, expires_at } = await operations["ticket.create"]({});
  expect(Date.parse(expires_at) - test.clock.now()).toBe(limits.ticket_ms);
  const { identity, cookie, max_age_ms } = exchangeTicket(deps, ticket);
  expect(identity).toEqual({
    ...{ user_id: "ann", role: "viewer", workspaces: "*" },
    expires_at: new Date(test.clock.now() + limits.cookie_ms).toISOString(),
  });
  expect(max_age_ms).toBe(limits.cookie_ms);
  expect(findIdentity(test.store, cookie)).toMatchObject({
    ...{ root_token_id: token.token_id, kind: "cookie", role: "viewer" },
  });
  expect(() => exchangeTicket(deps, ticket)).toThrow(
    expect.objectContaining({ code: "unauthenticated" }),
  );
});

test("a cookie never outlives the token that it came from", async () => {
  using test = openTestStore();
  const { token } = test.token({ expires_in_ms: 90_000 });
  const { deps, operations } = openTickets(test, token.token_id);
  const { ticket } = await operations["ticket.create"]({});
  test.clock.advance(30_000);
  const { cookie, max_age_ms, identity } = exchangeTicket(deps, ticket);
  expect([max_age_ms, identity.expires_at]).toEqual([60_000, token.expires_at]);
  test.clock.advance(60_000);
  expect(findIdentity(test.store, cookie)).toBeUndefined();
});

test("an old, an unknown and a revoked token's ticket are refused in the same words", async () => {
  using test = openTestStore();
  const [late, revoked] = [test.token().token, test.token().token];
  const tickets = await Promise.all(
    [late, revoked].map(({ token_id }) =>
      openTickets(test, token_id).operations["ticket.create"]({}),
    ),
  );
  test.store.tokens.revoke(revoked.token_id);
  test.clock.advance(limits.ticket_ms);
  const { operations } = openTickets(test);
  const exchange = (ticket: string) =>
    operations["ticket.exchange"]({ ticket }).catch(({ code, message }) => `${code} ${message}`);
  const answers = await Promise.all([...tickets.map(({ ticket }) => ticket), "x"].map(exchange));
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toMatch(/^unauthenticated this ticket lets nobody in/);
});

test("a ticket is not used up when there is no room for its cookie", async () => {
  using test = openTestStore();
  const { token } = test.token();
  const { operations } = openTickets(test, token.token_id);
  const { ticket } = await operations["ticket.create"]({});
  const other = test.token().token.token_id;
  test.sql(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${limits.tokens})
    INSERT INTO tokens (token_id, kind, parent_token_id, secret_hash, label, user_id, role, is_everywhere, created_at)
    SELECT 'tok_' || i, 'cookie', '${other}', CAST(i AS BLOB), '', 'x', 'viewer', 1, '' FROM n`);
  await expect(operations["ticket.exchange"]({ ticket })).rejects.toMatchObject({
    code: "too_many",
  });
  test.store.tokens.revoke(other);
  expect(await operations["ticket.exchange"]({ ticket })).toMatchObject({ user_id: "ann" });
});

test("a caller without a token gets no ticket", async () => {
  using test = openTestStore();
  await expect(openTickets(test).operations["ticket.create"]({})).rejects.toMatchObject({
    code: "forbidden",
  });
});

test("both steps are audited, without the ticket and the cookie", async () => {
  using test = openTestStore();
  const { token } = test.token();
  const { deps, operations } = openTickets(test, token.token_id);
  const { ticket } = await operations["ticket.create"]({});
  const { cookie } = exchangeTicket(deps, ticket);
  const { rows } = test.store.audit.list({ workspaces: "*", limit: 9 });
  const who = { user_id: "ann", token_id: token.token_id, target_id: token.token_id };
  expect(rows).toMatchObject([
    { ...who, action: "ticket.exchanged" },
    { ...who, action: "ticket.created" },
  ]);
  expect(JSON.stringify(rows)).not.toMatch(new RegExp(`${ticket}|${cookie}`));
});
