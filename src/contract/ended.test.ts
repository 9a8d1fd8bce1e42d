import { expect, test } from "vitest";
import { isCrashed, isResumable, isSleeping } from "./ended.ts";
import type { EndReason, SessionState } from "./session-state.ts";

test.each<[SessionState, { sleeps: boolean; resumable: boolean; crashed: boolean }]>([
  [{ kind: "running" }, { sleeps: false, resumable: false, crashed: false }],
  [exited("exited", 0), { sleeps: true, resumable: true, crashed: false }],
  [exited("exited", 1), { sleeps: false, resumable: true, crashed: true }],
  [exited("host_shutdown", 0), { sleeps: false, resumable: true, crashed: true }],
  [exited("user_requested", 0), { sleeps: false, resumable: false, crashed: false }],
  [exited("lifetime_timeout", 143), { sleeps: false, resumable: false, crashed: false }],
  [
    { kind: "lost", reason: "host_lost" },
    { sleeps: false, resumable: true, crashed: true },
  ],
  [
    { kind: "lost", reason: "parent_closed" },
    { sleeps: false, resumable: false, crashed: false },
  ],
])("an agent in the state %j: %j", (state, expected) => {
  const agent = { kind: "agent", state } as const;
  const found = {
    sleeps: isSleeping(agent),
    resumable: isResumable(agent),
    crashed: isCrashed(agent),
  };
  expect(found).toEqual(expected);
});

test("only an agent is resumable", () => {
  expect(isResumable({ kind: "terminal", state: exited("exited", 1) })).toBe(false);
});

function exited(reason: EndReason, exit_code: number): SessionState {
  return { kind: "exited", exit_code, signal: null, reason, tail: 0, final: true };
}
