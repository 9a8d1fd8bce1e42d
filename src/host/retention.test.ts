import { existsSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { Sessions } from "#host/sessions/sessions.ts";
import { FakeSpawner } from "#proc/testing/fake-child.ts";
import { chooseExpired, type Ended } from "./retention.ts";
import { openTestSessions } from "./testing/open-test-sessions.ts";

const keep = { kept_ms: 1000, kept_count: 5, kept_bytes: 100 };

test("keeps the newest that fit in age, count and bytes, and nothing else", () => {
  const ended = fc.array(fc.record({ ended_at: fc.nat(3000), bytes: fc.nat(60) }), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(ended, (list) => {
      const sessions: Ended[] = list.map((entry, at) => ({ ...entry, session_id: `ses_${at}` }));
      const expired = new Set(chooseExpired(sessions, 3000, keep));
      const kept = sessions.filter((session) => !expired.has(session.session_id));
      expect(kept.length).toBeLessThanOrEqual(5);
      expect(kept.every((session) => 3000 - session.ended_at <= 1000)).toBe(true);
      expect(kept.reduce((sum, session) => sum + session.bytes, 0)).toBeLessThanOrEqual(100);
      const newestExpired = Math.max(
        -1,
        ...sessions.filter((s) => expired.has(s.session_id)).map((s) => s.ended_at),
      );
      expect(kept.every((session) => session.ended_at >= newestExpired)).toBe(true);
      // Nothing goes that has room, those before it included.
      for (const session of sessions.filter((s) => expired.has(s.session_id))) {
        const upTo = sessions.filter(({ ended_at }) => ended_at >= session.ended_at);
        const bytes = upTo.reduce((sum, each) => sum + each.bytes, 0);
        expect(3000 - session.ended_at > 1000 || upTo.length > 5 || bytes > 100).toBe(true);
      }
    }),
  );
});

test("removes ended sessions by themselves, never one that runs or whose output is held", async () => {
  await using host = openTestSessions({
    keep: { kept_ms: 60_000, kept_count: 100, kept_bytes: 1e9 },
  });
  await host.sessions.recover();
  const removed: unknown[] = [];
  using _removals = host.sessions.removals.on((removal) => removed.push(removal));
  const old = await host.open();
  old.child.exit();
  old.child.finish();
  const held = await host.open();
  held.child.exit();
  const running = await host.open();
  host.clock.advance(30 * 60_000);
  expect(host.sessions.find(old.session.id)).toBeUndefined();
  expect(existsSync(old.session.dir)).toBe(false);
  expect(removed).toMatchObject([{ session_id: old.session.id, reason: "retention" }]);
  expect(host.sessions.find(held.session.id)).toBeDefined();
  expect(host.sessions.find(running.session.id)).toBeDefined();
});

test("the oldest of more than may be kept goes with the next end, without waiting for a sweep", async () => {
  await using host = openTestSessions({
    keep: { kept_ms: 60_000, kept_count: 2, kept_bytes: 1e9 },
  });
  const opened = [];
  for (let at = 0; at < 4; at += 1) {
    const each = await host.open();
    each.child.exit();
    each.child.finish();
    host.clock.advance(1000);
    opened.push(each.session.id);
  }
  expect(host.sessions.all().map(({ id }) => id)).toEqual(opened.slice(1));
});

test("nothing is swept any more once the host shuts down, also in the middle of its recovery", async () => {
  await using host = openTestSessions();
  await host.open();
  const clock = new ManualClock();
  const { folder } = host;
  const ended = Promise.withResolvers<[]>();
  const spawner = Object.assign(new FakeSpawner(), { endLeftovers: () => ended.promise });
  const next = new Sessions({ folder, clock, log: silentLogger, spawner, live_cap: 10 });
  const recovered = next.recover();
  await next.shutdown();
  ended.resolve([]);
  await recovered;
  expect(clock.timers).toBe(0);
});
