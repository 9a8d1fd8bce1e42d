import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { openTestStore } from "./testing/test-store.ts";

test("a ticket is taken once, by whichever connection is first", () => {
  using test = openTestStore();
  const { token } = test.token();
  const { secret } = test.store.tickets.create(token.token_id);
  const connections = Array.from({ length: 20 }, () => test.openAnother());
  const got = connections.map((store) => store.tickets.take(secret)?.token_id);
  expect(got.filter((id) => id !== undefined)).toEqual([token.token_id]);
});

test("a ticket is good for a minute and not a millisecond more", () => {
  using test = openTestStore();
  const { token } = test.token();
  const [early, late] = [1, 2].map(() => test.store.tickets.create(token.token_id));
  expect(early?.expires_at).toBe(new Date(test.clock.now() + 60_000).toISOString());
  test.clock.advance(59_999);
  expect(test.store.tickets.take(early?.secret ?? "")).toEqual(token);
  test.clock.advance(1);
  expect(test.store.tickets.take(late?.secret ?? "")).toBeUndefined();
});

test("a ticket of a token that has expired meanwhile is worth nothing", () => {
  using test = openTestStore();
  const { token } = test.token({ expires_in_ms: 1000 });
  const { secret } = test.store.tickets.create(token.token_id);
  test.clock.advance(1000);
  expect(test.store.tickets.take(secret)).toBeUndefined();
});

test("an expired or unknown token gets no ticket", () => {
  using test = openTestStore();
  const { token } = test.token({ expires_in_ms: 1000 });
  test.clock.advance(1000);
  const refused = expect.objectContaining({ code: "unauthenticated" });
  expect(() => test.store.tickets.create(token.token_id)).toThrow(refused);
  expect(() => test.store.tickets.create("tok_unknown")).toThrow(refused);
});

test("a ticket made by a browser stands for the token that let it in", () => {
  using test = openTestStore();
  const { token } = test.token();
  const cookie = test.store.tokens.createCookie(token).token;
  const { secret } = test.store.tickets.create(cookie.token_id);
  expect(test.store.tickets.take(secret)).toEqual(token);
});

test("one token cannot take the tickets of all, and expired ones make room", () => {
  using test = openTestStore();
  const { token } = test.token();
  const other = test.token().token;
  for (let i = 0; i < 100; i += 1) test.store.tickets.create(token.token_id);
  expect(() => test.store.tickets.create(token.token_id)).toThrow(
    expect.objectContaining({ code: "too_many" }),
  );
  expect(test.store.tickets.create(other.token_id).secret).toMatch(/^reins_ticket_/);
  test.clock.advance(limits.ticket_ms);
  test.store.tickets.create(token.token_id);
  expect(test.sql("SELECT * FROM tickets")).toHaveLength(1);
});

test("there are as many tickets as the limit says and no more", () => {
  using test = openTestStore();
  for (let i = 0; i < limits.tickets / 100; i += 1) {
    const { token } = test.token();
    for (let j = 0; j < 100; j += 1) test.store.tickets.create(token.token_id);
  }
  expect(() => test.store.tickets.create(test.token().token.token_id)).toThrow(
    expect.objectContaining({ code: "too_many", details: { limit: limits.tickets } }),
  );
});
