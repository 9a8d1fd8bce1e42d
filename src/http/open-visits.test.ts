import { expect, test } from "vitest";
import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import type { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { OpenVisits } from "./open-visits.ts";

function open(known: Set<string>) {
  const clock = new ManualClock();
  const looks: (string | undefined)[] = [];
  const store = { isBroken: false };
  const knows = ({ token_id }: { readonly token_id: string | undefined }) => {
    looks.push(token_id);
    if (store.isBroken) throw new Error("disk I/O error");
    return known.has(token_id ?? "");
  };
  const visits = new OpenVisits({ gateway: { knows }, clock, log: silentLogger });
  const expelled: [string, Fault["code"]][] = [];
  const enter = (token_id: string) =>
    visits.enter(createTestCaller({ token_id }), ({ code }) => expelled.push([token_id, code]));
  return { clock, looks, store, visits, enter, expelled };
}

test("whoever came by a token that is gone is sent away, once, and the others stay", () => {
  const known = new Set(["a", "b"]);
  const { clock, visits, enter, expelled } = open(known);
  enter("a");
  enter("a");
  enter("b");
  clock.advance(limits.revocation_check_ms);
  expect(expelled).toEqual([]);
  known.delete("a");
  clock.advance(limits.revocation_check_ms);
  clock.advance(limits.revocation_check_ms);
  expect(expelled).toEqual([
    ["a", "unauthenticated"],
    ["a", "unauthenticated"],
  ]);
  expect(visits.size).toBe(1);
});

test("a token is looked up once, however much is open for it", () => {
  const { clock, looks, enter } = open(new Set(["a", "b"]));
  for (let times = 0; times < 50; times += 1) enter(times % 2 === 0 ? "a" : "b");
  clock.advance(limits.revocation_check_ms);
  expect(looks.toSorted()).toEqual(["a", "b"]);
});

test("what has left is not looked at, and where nobody is nothing ticks", () => {
  const { clock, looks, enter, expelled } = open(new Set());
  enter("a")[Symbol.dispose]();
  clock.advance(limits.revocation_check_ms);
  expect([looks, expelled, clock.timers]).toEqual([[], [], 0]);
  enter("a");
  expect(clock.timers).toBe(1);
});

test("a visit that asks learns at once that its token is gone, and all that is open for it ends", () => {
  const known = new Set(["a", "b"]);
  const { visits, enter, expelled } = open(known);
  const first = enter("a");
  enter("a");
  const other = enter("b");
  expect(first.isValid()).toBe(true);
  known.delete("a");
  expect([first.isValid(), first.isValid(), other.isValid()]).toEqual([false, false, true]);
  expect(expelled.map(([token]) => token)).toEqual(["a", "a"]);
  expect(visits.size).toBe(1);
});

test("what is open for a token that is gone ends within a second", () => {
  const known = new Set(["a"]);
  const { clock, enter, expelled } = open(known);
  enter("a");
  known.delete("a");
  clock.advance(1000);
  expect(expelled).toEqual([["a", "unauthenticated"]]);
});

test("a store that cannot be read sends nobody away until it can", () => {
  const { clock, store, enter, expelled } = open(new Set());
  enter("a");
  store.isBroken = true;
  clock.advance(limits.revocation_check_ms);
  expect(expelled).toEqual([]);
  store.isBroken = false;
  clock.advance(limits.revocation_check_ms);
  expect(expelled).toEqual([["a", "unauthenticated"]]);
});

test("a browser that has logged out is sent away, and another one of the same token stays", () => {
  const clock = new ManualClock();
  const gateway = {
    knows: ({ cookie_id }: { readonly cookie_id?: string | undefined }) => cookie_id !== "out",
  };
  using visits = new OpenVisits({ gateway, clock, log: silentLogger });
  const expelled: string[] = [];
  for (const cookie_id of ["out", "in", undefined])
    visits.enter(createTestCaller({ token_id: "a", cookie_id }), () =>
      expelled.push(String(cookie_id)),
    );
  clock.advance(limits.revocation_check_ms);
  expect(expelled).toEqual(["out"]);
});
