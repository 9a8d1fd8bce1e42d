import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { openTestSessions, readEvents } from "#host/testing/open-test-sessions.ts";
import { Control } from "./control.ts";

const refused = expect.objectContaining({ code: "not_controller" });

test("anybody may type while nobody holds control", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  session.input({ bytes: Buffer.from("a") });
  const generation = session.audience.attach("ana", "controller", { takeover: false });
  expect(() => session.input({ bytes: Buffer.from("b") })).toThrow(refused);
  session.input({ bytes: Buffer.from("c"), generation });
  session.audience.detach("ana");
  session.input({ bytes: Buffer.from("d") });
  expect(child.written.toString()).toBe("acd");
});

test("observers never change the size", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  session.audience.attach("ana", "controller", { takeover: false });
  session.audience.attach("bob", "viewer", { takeover: false });
  expect(() => session.resize({ cols: 10, rows: 10 }, undefined)).toThrow(refused);
  expect(session.view()).toMatchObject({ cols: 80, rows: 24, viewers: 2 });
  expect(child.sizes).toEqual([]);
});

test("a resize that fails changes nothing", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  child.failResize = true;
  expect(() => session.resize({ cols: 10, rows: 10 }, undefined)).toThrow();
  expect(session.view()).toMatchObject({ cols: 80, rows: 24 });
  child.failResize = false;
  session.resize({ cols: 132, rows: 50 }, undefined);
  expect(session.view()).toMatchObject({ cols: 132, rows: 50 });
  expect(child.sizes).toEqual([{ cols: 132, rows: 50 }]);
});

test("takeover is immediate, logged, and leaves the old generation without effect", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  const old = session.audience.attach("ana", "controller", { takeover: false });
  expect(() => session.audience.attach("bob", "controller", { takeover: false })).toThrow(refused);
  expect(session.view().viewers).toBe(1);
  const generation = session.audience.attach("bob", "controller", { takeover: true });
  expect(() => session.input({ bytes: Buffer.from("late"), generation: old })).toThrow(refused);
  session.input({ bytes: Buffer.from("new"), generation });
  session.audience.detach("ana");
  expect(session.view().controller).toEqual({ holder: "bob", generation });
  expect(child.written.toString()).toBe("new");
  expect(readEvents(session)).toContainEqual(
    expect.objectContaining({
      type: "session.control",
      taken_from: "ana",
      controller: { holder: "bob", generation },
    }),
  );
});

test("a lease that nobody renews ends, and its holder cannot type with it any more", async () => {
  await using host = openTestSessions();
  const { session } = await host.open();
  const generation = session.audience.attach("ana", "controller", { takeover: false });
  host.clock.advance(29_000);
  session.input({ bytes: Buffer.from("x"), generation });
  host.clock.advance(29_000);
  expect(session.audience.renew(generation ?? 0)).toBe(true);
  host.clock.advance(30_000);
  expect(session.view().controller).toBeNull();
  expect(() => session.input({ bytes: Buffer.from("x"), generation })).toThrow(refused);
});

test("input that is sent again is typed once", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  for (let retry = 0; retry < 3; retry += 1)
    session.input({ bytes: Buffer.from("x"), input_id: "a" });
  session.input({ bytes: Buffer.from("y"), input_id: "b" });
  expect(child.written.toString()).toBe("xy");
  child.fullQueue = true;
  expect(() => session.input({ bytes: Buffer.from("z"), input_id: "c" })).toThrow(
    expect.objectContaining({ code: "queue_full" }),
  );
  child.fullQueue = false;
  session.input({ bytes: Buffer.from("z"), input_id: "c" });
  expect(child.written.toString()).toBe("xyz");
});

test("at most one holder, and only the newest generation may type, whatever happens", () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("take" as const),
      holder: fc.constantFrom("a", "b", "c"),
      takeover: fc.boolean(),
    }),
    fc.record({ kind: fc.constant("release" as const), generation: fc.nat(8) }),
    fc.record({ kind: fc.constant("renew" as const), generation: fc.nat(8) }),
    fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(40_000) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const clock = new ManualClock();
      const control = new Control(clock, () => undefined);
      let model: { holder: string; generation: number; until: number } | undefined;
      let generation = 0;
      for (const action of steps) {
        if (model !== undefined && clock.monotonic() >= model.until) model = undefined;
        if (action.kind === "wait") clock.advance(action.ms);
        if (model !== undefined && clock.monotonic() >= model.until) model = undefined;
        if (action.kind === "take") {
          const take = () => control.take(action.holder, { takeover: action.takeover });
          if (model !== undefined && !action.takeover) expect(take).toThrow(refused);
          else {
            generation += 1;
            expect(take()).toBe(generation);
            model = { holder: action.holder, generation, until: clock.monotonic() + 30_000 };
          }
        }
        if (action.kind === "release") {
          control.release(action.generation);
          if (model?.generation === action.generation) model = undefined;
        }
        if (action.kind === "renew") {
          const held = model?.generation === action.generation;
          expect(control.renew(action.generation)).toBe(held);
          if (held && model !== undefined) model.until = clock.monotonic() + 30_000;
        }
        expect(control.controller).toEqual(
          model === undefined ? null : { holder: model.holder, generation: model.generation },
        );
      }
    }),
  );
});
