import { expect, test } from "vitest";
import type { AnyEvent } from "#contract/operations/agent.ts";
import { applyTurn, noTurn, untilTurnEnd } from "./turn-outcome.ts";

const event = (type: string, more: object = {}) =>
  // As much of an event as is read.
  ({ type, ...more }) as AnyEvent;

function read(...events: readonly AnyEvent[]) {
  return events.reduce(applyTurn, noTurn).outcome;
}

test("a turn is what its agent said last and how it ended", () => {
  const said = [event("turn.started"), event("message.end", { text: "One." })];
  expect(read(...said)).toBeUndefined();
  expect(
    read(...said, event("message.end", { text: "" }), event("turn.ended", { reason: "done" })),
  ).toEqual({ reason: "done", message: undefined, code: undefined, response: "One." });
});

test("what sub-agents say, and what was before, is not part of it", () => {
  const subagent_id = "sub_1";
  expect(
    read(
      event("error", { code: "model_failed", message: "Before." }),
      event("message.end", { text: "Before." }),
      event("turn.ended", { reason: "error" }),
      event("turn.started"),
      event("message.end", { text: "Theirs.", subagent_id }),
      event("error", { code: "model_failed", message: "Theirs.", subagent_id }),
      event("turn.ended", { reason: "error" }),
    ),
  ).toEqual({ reason: "error", message: undefined, code: undefined, response: "" });
});

test("a turn that failed has the code and the words of its error", () => {
  expect(
    read(
      event("turn.started"),
      event("error", { code: "model_failed", message: "No." }),
      event("turn.ended", { reason: "error" }),
    ),
  ).toMatchObject({ reason: "error", code: "model_failed", message: "No." });
});

test("a turn is followed through a parked worker to its own end, and no further than a cut", async () => {
  const exited = (exit_code: number) =>
    event("session.exited", { state: { kind: "exited", reason: "exited", exit_code } });
  const ended = (turn_id: string, more = {}) => event("turn.ended", { turn_id, ...more });
  const follow = async (...events: readonly AnyEvent[]) => {
    const items = (async function* () {
      for (const data of events) yield { id: 0, data };
    })();
    let count = 0;
    for await (const _item of untilTurnEnd(items, "two")) count += 1;
    return count;
  };
  const last = event("warning");
  expect(await follow(ended("one"), ended("two", { subagent_id: "s" }), ended("two"), last)).toBe(
    3,
  );
  expect(await follow(exited(0), ended("two"), last)).toBe(2);
  expect(await follow(exited(1), ended("two"), last)).toBe(1);
  expect(await follow(event("session.exited", { state: { kind: "lost" } }), last)).toBe(1);
});
