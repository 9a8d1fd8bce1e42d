import { expect, test } from "vitest";
import type { Session } from "#contract/session.ts";
import type { SessionState } from "#contract/session-state.ts";
import { describeState, describeStatus, renderTable as renderRuns } from "./ps.ts";

const NOW = Date.UTC(2026, 0, 10);
const SECOND = 1000;
const HOUR = 3600 * SECOND;

function createSession(change: Partial<Record<keyof Session, unknown>>, age = 0): Session {
  // Only what a table shows; the rest of a session plays no part.
  return {
    session_id: "ses_0123456789abcdef",
    state: { kind: "running" },
    kind: "terminal",
    title: "bash",
    work_dir: "/work",
    created_at: new Date(NOW - age).toISOString(),
    ...change,
  } as Session;
}

/** Without addresses of their own. */
function renderTable(sessions: readonly Session[], now: number): string {
  return renderRuns(
    sessions.map((session) => ({ session, address: null })),
    now,
  );
}

const exited = { kind: "exited", reason: "exited", tail: 0, final: true } as const;

test("sessions are a table", () => {
  const table = renderTable(
    [
      createSession({}, 5 * SECOND),
      createSession(
        {
          session_id: "ses_zzzzzzzzzzzzzzzz",
          state: { ...exited, exit_code: 3, signal: null },
          kind: "command",
          title: "npm test",
          work_dir: "/work/a b",
        },
        50 * HOUR,
      ),
    ],
    NOW,
  );
  expect(table).toBe(
    [
      "ID                    STATUS    KIND      AGE  TITLE     DIRECTORY",
      "ses_0123456789abcdef  running   terminal  5s   bash      /work",
      "ses_zzzzzzzzzzzzzzzz  exited 3  command   2d   npm test  /work/a b",
      "",
    ].join("\n"),
  );
});

test("addresses have a column when there is one", () => {
  const table = renderRuns(
    [
      { session: createSession({}), address: "http://127.0.0.1:7000" },
      { session: createSession({}), address: null },
    ],
    NOW,
  );
  const [head, first, second] = table.split("\n");
  expect(head).toMatch(/DIRECTORY {2}ADDRESS$/);
  expect(first).toMatch(/\/work {6}http:\/\/127\.0\.0\.1:7000$/);
  expect(second).toMatch(/\/work$/);
});

test.each([
  [-5 * SECOND, "0s"],
  [59 * SECOND, "59s"],
  [60 * SECOND, "1m"],
  [HOUR - 1, "59m"],
  [HOUR, "1h"],
  [24 * HOUR - 1, "23h"],
  [24 * HOUR, "1d"],
  [400 * 24 * HOUR, "400d"],
])("an age of %i ms is %s", (age, shown) => {
  expect(renderTable([createSession({}, age)], NOW)).toContain(
    `terminal  ${shown.padEnd(3)}  bash`,
  );
});

test.each<[string, SessionState]>([
  ["starting", { kind: "starting" }],
  ["running", { kind: "running" }],
  ["exited 0", { ...exited, exit_code: 0, signal: null }],
  ["exited ?", { ...exited, exit_code: null, signal: null }],
  ["SIGKILL", { ...exited, exit_code: 137, signal: "SIGKILL" }],
  ["lost", { kind: "lost", reason: "host_lost" }],
])("shows %s", (shown, state) => {
  expect(describeState(state)).toBe(shown);
});

test("an agent that asks needs you, also while it sleeps; names have a column when there is one", () => {
  const slept = { ...exited, exit_code: 0, signal: null };
  const table = renderTable(
    [
      createSession({ name: "review", status: "needs_you", state: slept, kind: "agent" }),
      createSession({ name: null, status: "ended", state: slept }),
    ],
    NOW,
  );
  expect(table.split("\n").map((line) => line.split(/ {2,}/).slice(1, 4))).toEqual([
    ["NAME", "STATUS", "KIND"],
    ["review", "needs you", "agent"],
    ["exited 0", "terminal", "0s"],
    [],
  ]);
});

test.each([
  [null, "running"],
  ["working", "working"],
  ["sleeping", "sleeping"],
] as const)("the status %s is shown as %s", (status, shown) => {
  expect(describeStatus({ status, state: { kind: "running" } })).toBe(shown);
});

test("a title and a directory cannot do anything to the terminal", () => {
  const title = "\x1b]0;owned\x07\nses_fake  running";
  const table = renderTable([createSession({ title, work_dir: "/tmp/\x1b[2J\nx" })], NOW);
  expect(table.split("\n")).toHaveLength(3);
  expect(table).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
});

test("a long title is cut, never inside of a character", () => {
  const row = (title: string) => renderTable([createSession({ title })], NOW).split("\n")[1];
  expect(row("x".repeat(40))).toContain(`${"x".repeat(40)}  /work`);
  expect(row("x".repeat(41))).toContain(`${"x".repeat(39)}…  /work`);
  expect(row("💡".repeat(41))).toContain(`${"💡".repeat(39)}…`);
});
