import { expect, test } from "vitest";
import type { Client } from "#client/client.ts";
import type { Session } from "#contract/session.ts";
import { Glances } from "./glances.ts";

const { signal } = new AbortController();

function session(id: string, kind = "running"): Session {
  // Nothing else of it is looked at.
  return { session_id: id, state: { kind } } as unknown as Session;
}

/** A server that knows all but the `unknown`, and writes down what it was asked. */
function openServer() {
  const asked: string[][] = [];
  const clock = { now: 1000 };
  let isAway = false;
  const call = async (_name: string, { session_ids }: { session_ids: string[] }) => {
    asked.push(session_ids);
    if (isAway) throw new Error("away");
    const known = session_ids.filter((id) => id !== "unknown");
    return { glances: known.map((session_id) => ({ session_id, line: `${asked.length}` })) };
  };
  const glances = new Glances({ call } as unknown as Client, () => clock.now);
  const refresh = (...sessions: Session[]) => glances.refresh(sessions, signal);
  const setAway = (is: boolean) => {
    isAway = is;
  };
  return { asked, clock, glances, refresh, setAway };
}

test("what runs is asked about again when it is old, what has ended once", async () => {
  const { asked, clock, refresh } = openServer();
  await refresh(session("a"), session("b", "exited"));
  await refresh(session("a"), session("b", "exited"));
  clock.now += 2999;
  await refresh(session("a"), session("b", "exited"));
  clock.now += 1;
  await refresh(session("a"), session("b", "exited"));
  expect(asked).toEqual([["a", "b"], ["a"]]);
});

test("one that ended since it was seen is asked about once more", async () => {
  const { asked, clock, glances, refresh } = openServer();
  await refresh(session("a"));
  await refresh(session("a", "exited"));
  expect(asked).toHaveLength(2);
  clock.now += 60_000;
  await refresh(session("a", "exited"));
  expect(asked).toEqual([["a"], ["a"]]);
  expect(glances.view.get().get("a")?.line).toBe("2");
});

test("one that the server does not know is not asked about again and again", async () => {
  const { asked, glances, refresh } = openServer();
  await refresh(session("unknown", "exited"));
  await refresh(session("unknown", "exited"));
  expect(asked).toEqual([["unknown"]]);
  expect(glances.view.get().size).toBe(0);
});

test("at most a hundred are asked about at once, one call at a time", async () => {
  const { asked, refresh } = openServer();
  const many = Array.from({ length: 130 }, (_, at) => session(`s${at}`, "exited"));
  await Promise.all([refresh(...many), refresh(...many)]);
  expect(asked.map(({ length }) => length)).toEqual([100]);
  await refresh(...many);
  expect(asked.map(({ length }) => length)).toEqual([100, 30]);
});

test("a server that was away is asked again", async () => {
  const { asked, glances, refresh, setAway } = openServer();
  setAway(true);
  await refresh(session("a"));
  setAway(false);
  await refresh(session("a"));
  expect(asked).toEqual([["a"], ["a"]]);
  expect(glances.view.get().has("a")).toBe(true);
});

test("of two thousand those are forgotten that were not asked about for longest", async () => {
  const { clock, glances, refresh } = openServer();
  const look = (page: number) =>
    refresh(...Array.from({ length: 100 }, (_, at) => session(`s${page}-${at}`, "exited")));
  await refresh(session("old"));
  for (let page = 0; page < 19; page += 1) await look(page);
  clock.now += 3000;
  await refresh(session("old"));
  await look(19);
  await look(20);
  expect(glances.view.get().size).toBe(2000);
  expect(glances.view.get().has("s0-99")).toBe(false);
  expect(glances.view.get().has("s1-99")).toBe(true);
  expect(glances.view.get().has("old")).toBe(true);
});
