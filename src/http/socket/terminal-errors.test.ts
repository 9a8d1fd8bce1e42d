import { expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { describeError, findIds } from "./terminal-errors.ts";

test("a mistake of ours is told without its words", () => {
  const told = {
    code: "internal",
    message: "something went wrong here; the server's log says what",
  };
  expect(describeError(new Error("SELECT secret FROM tokens"))).toEqual(told);
  expect(describeError(new Fault("internal", "the inner words"))).toEqual(told);
});

test("an ended session is not found, a workspace that is not there is not the task's", () => {
  expect(describeError(new Fault("already_exited", "a")).code).toBe("session_not_found");
  expect(describeError(new Fault("workspace_not_found", "a")).code).toBe("workspace_mismatch");
  const full = new Fault("queue_full", "the queue is full");
  expect(describeError(full)).toEqual({ code: "queue_full", message: "the queue is full" });
});

test("ids are found in a frame that is otherwise wrong, and only if they are ids", () => {
  const session_id = "ses_0123456789abcdef";
  expect(findIds({ type: 3, payload: { request_id: "r", session_id } })).toEqual({
    request_id: "r",
    session_id,
  });
  expect(findIds({ payload: { request_id: "", session_id: "x" } })).toEqual({});
  for (const frame of [null, 3, "text", [], { payload: null }, {}])
    expect(findIds(frame)).toEqual({});
});
