import { expect, test } from "vitest";
import type { Session } from "#contract/session.ts";
import { describeState, hasEnded } from "./state-words.ts";

type Shape = Pick<Session, "status" | "state" | "kind">;

const ended = (change: object, kind: Session["kind"] = "command"): Shape => ({
  kind,
  status: "ended",
  state: {
    ...{ kind: "exited", exit_code: 0, signal: null, reason: "exited", tail: 0, final: true },
    ...change,
  },
});
const running = (status: Session["status"], kind: Session["kind"] = "agent"): Shape => ({
  ...{ kind, status, state: { kind: "running" } },
});
const lost = { kind: "lost", reason: "host_lost" } as const;

test.each<[string, Shape]>([
  ["starting", { kind: "terminal", status: "starting", state: { kind: "starting" } }],
  ["running", running("running", "terminal")],
  ["exit 0", ended({})],
  ["exit 3", ended({ exit_code: 3 })],
  ["SIGKILL", ended({ exit_code: 137, signal: "SIGKILL" })],
  ["never ran", ended({ exit_code: null, reason: "spawn_failed" })],
  ["closed", ended({ exit_code: 129, signal: "SIGHUP", reason: "user_requested" })],
  ["starting", running("starting")],
  ["working", running("working")],
  ["idle", running("idle")],
  ["needs you", running("needs_you")],
  ["sleeping", { ...ended({}, "agent"), status: "sleeping" }],
  ["needs you", { ...ended({}, "agent"), status: "needs_you" }],
  ["crashed", ended({ exit_code: 1 }, "agent")],
  ["lost", { kind: "agent", status: "ended", state: lost }],
  ["lost", { kind: "terminal", status: "ended", state: lost }],
])("a session is %s", (text, session) => {
  expect(describeState(session).text).toBe(text);
});

test("the status of an agent on an older host is unknown; what a process did is known", () => {
  const say = (session: Shape) => describeState({ ...session, status: null }).text;
  expect(say(running("idle"))).toBe("unknown");
  expect(say(ended({}, "agent"))).toBe("unknown");
  expect(say(running("running", "terminal"))).toBe("running");
  expect(say(ended({ exit_code: 3 }))).toBe("exit 3");
});

test("an agent that sleeps has not ended", () => {
  expect(hasEnded({ ...ended({}, "agent"), status: "sleeping" })).toBe(false);
  expect(hasEnded({ ...ended({}, "agent"), status: null })).toBe(false);
  expect(hasEnded(ended({}))).toBe(true);
  expect(hasEnded({ ...ended({}), status: null })).toBe(true);
});
