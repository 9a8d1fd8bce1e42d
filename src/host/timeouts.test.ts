import { expect, test } from "vitest";
import { openTestSessions } from "./testing/open-test-sessions.ts";

const MINUTE = 60_000;

test("an idle session is closed after its timeout, not before", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open({ idle_timeout_ms: 30 * MINUTE });
  host.clock.advance(29 * MINUTE);
  expect(child.graces).toEqual([]);
  host.clock.advance(2 * MINUTE);
  expect(child.graces.length).toBe(1);
  await session.close("user_requested");
  expect(session.view().state).toMatchObject({ reason: "idle_timeout" });
});

test.each([
  ["input", (o: Opened) => o.session.input({ bytes: Buffer.from("x") })],
  ["output", (o: Opened) => o.child.print("x")],
  ["a resize", (o: Opened) => o.session.resize({ cols: 90, rows: 30 }, undefined)],
])("%s counts as activity", async (_name, act) => {
  await using host = openTestSessions();
  const opened = await host.open({ idle_timeout_ms: 30 * MINUTE });
  host.clock.advance(20 * MINUTE);
  act(opened);
  host.clock.advance(20 * MINUTE);
  expect(opened.child.graces).toEqual([]);
  host.clock.advance(11 * MINUTE);
  expect(opened.child.graces.length).toBe(1);
});

type Opened = Awaited<ReturnType<ReturnType<typeof openTestSessions>["open"]>>;

test("watching is not activity", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open({ idle_timeout_ms: 30 * MINUTE });
  host.clock.advance(20 * MINUTE);
  session.audience.attach("me", "viewer", { takeover: false });
  host.clock.advance(11 * MINUTE);
  expect(child.graces.length).toBe(1);
});

test.each([undefined, 0])("an idle timeout of %s is never", async (idle_timeout_ms) => {
  await using host = openTestSessions();
  const { session } = await host.open({ idle_timeout_ms });
  host.clock.advance(1000 * 24 * 60 * MINUTE);
  expect(session.isLive).toBe(true);
});

test("fires once, and a quarter of the timeout late at the most", async () => {
  await using host = openTestSessions();
  const { child } = await host.open({ idle_timeout_ms: 4000 });
  host.clock.advance(3999);
  child.print("x");
  host.clock.advance(4000);
  expect(child.graces.length).toBe(1);
  host.clock.advance(60 * MINUTE);
  expect(child.graces.length).toBe(1);
});

test("a lifetime ends a busy session too", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open({ lifetime_ms: 10 * MINUTE });
  for (let minute = 0; minute < 9; minute += 1) {
    host.clock.advance(MINUTE);
    child.print("busy");
  }
  expect(session.isLive).toBe(true);
  host.clock.advance(MINUTE);
  await session.close("user_requested");
  expect(session.view().state).toMatchObject({ reason: "lifetime_timeout" });
});

test("no timer of an ended session stays behind", async () => {
  await using host = openTestSessions();
  const before = host.clock.timers;
  const { session, child } = await host.open({ idle_timeout_ms: MINUTE, lifetime_ms: MINUTE });
  session.audience.attach("me", "controller", { takeover: false });
  child.exit();
  child.finish();
  expect(host.clock.timers).toBe(before);
});

test("the grace is the session's own", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open({ grace_ms: 1234 });
  await session.close("user_requested");
  const agent = await host.open({ kind: "agent" });
  await agent.session.close("user_requested");
  expect([child.graces, agent.child.graces]).toEqual([[1234], [5000]]);
});
