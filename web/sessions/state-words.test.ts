import { expect, test } from "vitest";
import type { Session } from "#contract/session.ts";
import { describeState } from "./state-words.ts";

type Shape = Pick<Session, "state" | "kind">;

const ended = (change: object, kind: Session["kind"] = "command"): Shape => ({
  kind,
  state: {
    ...{ kind: "exited", exit_code: 0, signal: null, reason: "exited", tail: 0, final: true },
    ...change,
  },
});
const running = (kind: Session["kind"]): Shape => ({ kind, state: { kind: "running" } });

test.each<[string, Shape]>([
  ["starting", { kind: "terminal", state: { kind: "starting" } }],
  ["running", running("terminal")],
  ["exit 0", ended({})],
  ["exit 3", ended({ exit_code: 3 })],
  ["SIGKILL", ended({ exit_code: 137, signal: "SIGKILL" })],
  ["never ran", ended({ exit_code: null, reason: "spawn_failed" })],
  ["closed", ended({ exit_code: 129, signal: "SIGHUP", reason: "user_requested" })],
  ["parked", ended({ reason: "idle_timeout" }, "agent")],
  ["parked", { kind: "agent", state: { kind: "lost", reason: "host_lost" } }],
  ["lost", { kind: "terminal", state: { kind: "lost", reason: "host_lost" } }],
])("a session is %s", (text, session) => {
  expect(describeState(session).text).toBe(text);
});

test("only of an agent that runs is said whether it works", () => {
  const say = (session: Shape) => describeState(session, { activity: "idle" }).text;
  expect(say(running("agent"))).toBe("idle");
  expect(describeState(running("agent"), { activity: "running" }).text).toBe("working");
  expect(say(ended({ reason: "idle_timeout" }, "agent"))).toBe("parked");
  expect(say(running("terminal"))).toBe("running");
});

test("that an answer is needed comes before everything else", () => {
  const parked = ended({ reason: "idle_timeout" }, "agent");
  expect(describeState(parked, { isAsking: true })).toEqual({
    ...{ tone: "accent", text: "needs an answer" },
  });
});
