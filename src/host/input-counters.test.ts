import fc from "fast-check";
import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import type { HostSession } from "#host/session/host-session.ts";
import { openTestSessions } from "#host/testing/open-test-sessions.ts";
import { InputCounters } from "./input-counters.ts";

const outOfOrder = (expected: number) =>
  expect.objectContaining({
    code: "input_out_of_order",
    details: expect.objectContaining({ expected }),
  });

function type(session: HostSession, [attachment, number, text]: [string, number, string]): void {
  const bytes = Buffer.from(text);
  const generation = session.audience.controller?.generation;
  session.input({ bytes, generation, numbered: { attachment, number } });
}

test("a repeated number is not applied, and one behind a missing number is refused", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  type(session, ["a", 1, "1"]);
  type(session, ["b", 1, "x"]);
  type(session, ["a", 1, "1"]);
  expect(() => type(session, ["a", 3, "3"])).toThrow(outOfOrder(2));
  type(session, ["a", 2, "2"]);
  type(session, ["a", 3, "3"]);
  expect(child.written.toString()).toBe("1x23");
});

test("a refused input keeps its number, and an applied one is acknowledged also without control", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  const numbered = { attachment: "a", number: 1 };
  child.fullQueue = true;
  const bytes = Buffer.from("1");
  expect(() => session.input({ bytes, numbered })).toThrow(
    expect.objectContaining({ code: "queue_full" }),
  );
  child.fullQueue = false;
  session.input({ bytes, numbered });
  session.audience.attach("bob", "controller", { takeover: false });
  session.input({ bytes, numbered });
  expect(() => session.input({ bytes, numbered: { ...numbered, number: 2 } })).toThrow(
    expect.objectContaining({ code: "not_controller" }),
  );
  expect(child.written.toString()).toBe("1");
});

test("an id that another attachment has sent takes a number and is not applied again", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open();
  const bytes = Buffer.from("x");
  for (const attachment of ["a", "b"])
    session.input({ bytes, input_id: "same", numbered: { attachment, number: 1 } });
  type(session, ["b", 2, "y"]);
  expect(child.written.toString()).toBe("xy");
});

test("the program that takes the host over applies the next number, and control stays with its attachment", async () => {
  await using host = openTestSessions();
  const { session } = await host.open();
  const named = { takeover: false, name: "a" };
  session.audience.attach("ann#1", "controller", named);
  for (const number of [1, 2]) type(session, ["a", number, "x"]);
  const next = await host.succeed();
  const after = next.sessions.get(session.id);
  expect(after.audience.inputs.enter("a")).toBe(2);
  expect(after.audience.attach("ann#2", "controller", named)).toBe(2);
  type(after, ["a", 2, "x"]);
  expect(() => type(after, ["a", 4, "x"])).toThrow(outOfOrder(3));
  type(after, ["a", 3, "y"]);
  expect(next.spawner.last.written.toString()).toBe("y");
});

test("the attachment that was used least recently is forgotten first, and says so", () => {
  const counters = new InputCounters();
  const most = limits.input_attachments_remembered;
  for (let n = 0; n < most; n += 1) counters.enter(`n${n}`);
  counters.applied({ attachment: "n0", number: 1 });
  counters.enter("one more");
  expect([counters.enter("n0"), counters.enter("n1")]).toEqual([1, null]);
  expect(counters.handOver()).toHaveLength(most);
});

test("whatever is sent, each attachment's inputs are applied once and in order", () => {
  const input = fc.record({
    attachment: fc.constantFrom("a", "b"),
    number: fc.integer({ min: 1, max: 6 }),
  });
  fc.assert(
    fc.property(fc.array(input), (inputs) => {
      const counters = new InputCounters();
      const applied: Record<string, number[]> = { a: [], b: [] };
      for (const one of inputs) {
        const done = applied[one.attachment] ?? [];
        expect(counters.isApplied(one)).toBe(done.includes(one.number));
        if (counters.isApplied(one)) continue;
        if (one.number !== done.length + 1) {
          expect(() => counters.check(one)).toThrow(outOfOrder(done.length + 1));
          continue;
        }
        counters.check(one);
        counters.applied(one);
        done.push(one.number);
      }
    }),
  );
});
