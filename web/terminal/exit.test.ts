import { expect, test } from "vitest";
import { describeExit } from "./exit.ts";

const running = { state: { kind: "running" } } as const;

test.each([
  [
    { exit_code: 0, signal: null, reason: "exited" },
    "exit 0",
    "This session has ended with code 0.",
  ],
  [
    { exit_code: 3, signal: null, reason: "exited" },
    "exit 3",
    "This session has ended with code 3.",
  ],
  [
    { exit_code: 137, signal: "KILL", reason: "exited" },
    "KILL",
    "This session was ended by the signal KILL.",
  ],
  [
    { exit_code: 129, signal: "HUP", reason: "user_requested" },
    "HUP",
    "This session was ended by the signal HUP: somebody closed it.",
  ],
  [
    { exit_code: null, signal: null, reason: "spawn_failed" },
    "never ran",
    "This session never ran: it could not be started.",
  ],
  [
    { exit_code: null, signal: null, reason: "host_lost" },
    "lost",
    "This session was lost: the host that ran it died; what it had printed is kept.",
  ],
] as const)("%j is said as %s", (exit, badge, sentence) => {
  expect(describeExit(exit, running)).toMatchObject({ badge, sentence });
});

test("what the server adds is said as well", () => {
  const exit = { exit_code: null, signal: null, reason: "spawn_failed" } as const;
  const state = { kind: "exited", ...exit, detail: "no such file", tail: 0, final: true } as const;
  expect(describeExit(exit, { state }).sentence).toBe(
    "This session never ran: it could not be started (no such file).",
  );
});
