import { expect, test } from "vitest";
import type { AnyEvent } from "#contract/operations/agent.ts";
import { describeEvent } from "./event-text.ts";

/** As it stands in a log; only what is shown matters. */
function describe(event: object): string | undefined {
  const fact = { at: "2026-05-01T12:34:56.789Z", session_id: "ses_0", ...event };
  return describeEvent(fact as unknown as AnyEvent);
}

test("an event is a line: when, what, who, and what it says", () => {
  const message = { type: "message.end", agent: "root", text: "One\ntwo\u001b[31m.", model: "m" };
  expect(describe(message)).toBe("12:34:56 message.end            root: One two [31m.");
  const state = { kind: "exited", exit_code: 3, reason: "exited" };
  expect(describe({ type: "session.exited", state })).toBe(
    "12:34:56 session.exited         exited, exit code 3",
  );
  expect(describe({ type: "turn.ended", turn_id: "trn_0", reason: "done" })).toBe(
    "12:34:56 turn.ended             reason=done",
  );
});

test("pieces are not shown, and what is long is cut", () => {
  for (const type of ["message.start", "message.delta", "tool.call.delta", "tool.output"])
    expect(describe({ type, text: "x" })).toBeUndefined();
  expect(describe({ type: "message.end", text: "x".repeat(5000) })?.length).toBeLessThan(450);
});
