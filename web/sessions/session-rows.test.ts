import fc from "fast-check";
import { expect, test } from "vitest";
import type { Session } from "#contract/session.ts";
import { everything } from "./list/list-choice.ts";
import { buildRows, countPhases, type ListChoice, type ListSource } from "./session-rows.ts";

type Change = Partial<Record<keyof Session, unknown>>;

const running = { kind: "running" };
const exited = {
  ...{ kind: "exited", exit_code: 0, signal: null, reason: "exited", tail: 0, final: true },
};

/** Ids are made short here; the list takes them for texts. */
function session(id: string, change: Change = {}): Session {
  return {
    session_id: id,
    kind: "terminal",
    mode: "pty",
    state: running,
    status: "running",
    title: id,
    workspace_id: "wsp_a",
    parent_session_id: null,
    work_dir: "/srv",
    argv: ["bash"],
    created_at: "2026-01-01T00:00:00.000Z",
    last_io_at: "2026-01-01T00:00:00.000Z",
    ...change,
  } as unknown as Session;
}

function source(sessions: readonly Session[], more: Partial<ListSource> = {}): ListSource {
  return {
    sessions: new Map(sessions.map((one) => [one.session_id, one])),
    asking: new Set(),
    ...more,
  };
}

interface Shown {
  readonly choice?: Partial<ListChoice>;
  readonly collapsed?: readonly string[];
  readonly askingFirst?: boolean;
}

function rowsOf(from: ListSource, { choice, collapsed = [], askingFirst = false }: Shown = {}) {
  return buildRows(from, {
    choice: { ...everything, order: "name", ...choice },
    collapsed: new Set(collapsed),
    askingFirst,
  });
}

/** `a`, `-b` for its child, `--c` for the child of that. */
const draw = (rows: ReturnType<typeof rowsOf>) =>
  rows.map((row) => `${"-".repeat(row.level - 1)}${row.session.session_id}`);

const under = (parent: string) => ({ parent_session_id: parent });

test("children stand under their parent, however they come", () => {
  const from = source([
    session("d", under("b")),
    session("b", under("a")),
    session("e"),
    session("a"),
    session("c", under("a")),
  ]);
  expect(draw(rowsOf(from))).toEqual(["a", "-b", "--d", "-c", "e"]);
});

test("a row knows its place among those of the same parent", () => {
  const rows = rowsOf(source([session("a"), session("b", under("a")), session("c", under("a"))]));
  expect(rows.map(({ position, setSize }) => [position, setSize])).toEqual([
    [1, 1],
    [1, 2],
    [2, 2],
  ]);
  expect(rows[0]).toMatchObject({ childCount: 2, isExpanded: true });
  expect(rows[1]).toMatchObject({ childCount: 0, isExpanded: false });
});

test("a child whose parent is not shown is at the top", () => {
  const from = source([session("a", { state: exited, status: "ended" }), session("b", under("a"))]);
  expect(draw(rowsOf(from, { choice: { phase: "running" } }))).toEqual(["b"]);
  expect(draw(rowsOf(source([session("b", under("gone"))])))).toEqual(["b"]);
});

test("what is folded away is not shown, but that it waits for an answer is", () => {
  const sessions = [session("a"), session("b", under("a")), session("c", under("b")), session("d")];
  const from = source(sessions, { asking: new Set(["c"]) });
  const rows = rowsOf(from, { collapsed: ["a", "d"] });
  expect(draw(rows)).toEqual(["a", "d"]);
  expect(rows.map(({ isAskingBelow }) => isAskingBelow)).toEqual([true, false]);
  expect(rows[0]).toMatchObject({ isExpanded: false, childCount: 1 });
  expect(rowsOf(from)[0]?.isAskingBelow).toBe(false);
});

test("a ring of parents is shown all the same", () => {
  const ring = [session("a", under("b")), session("b", under("a")), session("c", under("c"))];
  expect(draw(rowsOf(source(ring)))).toEqual(["a", "b", "c"]);
});

test("children of children may go deeper than a stack of calls", () => {
  const DEPTH = 3000;
  const chain = Array.from({ length: DEPTH }, (_, at) =>
    session(`s${at}`, at === 0 ? {} : under(`s${at - 1}`)),
  );
  expect(rowsOf(source(chain)).at(-1)?.level).toBe(DEPTH);
});

test.each<[ListChoice["phase"], string[]]>([
  ["all", ["agent", "done", "lost", "sleeps", "starts", "works"]],
  ["running", ["agent", "sleeps", "starts", "works"]],
  ["asking", ["agent"]],
  ["ended", ["done", "lost"]],
])("%s shows those in that phase, and they are counted", (phase, shown) => {
  const from = source(
    [
      session("works"),
      session("starts", { state: { kind: "starting" } }),
      session("done", { state: exited, status: "ended" }),
      session("lost", { state: { kind: "lost", reason: "host_lost" }, status: "ended" }),
      session("agent", { kind: "agent" }),
      session("sleeps", { kind: "agent", state: exited, status: "sleeping" }),
    ],
    { asking: new Set(["agent"]) },
  );
  expect(draw(rowsOf(from, { choice: { phase } }))).toEqual(shown);
  // The count is of all phases, whichever is chosen.
  expect(countPhases(from, { ...everything, phase: "ended" })[phase]).toBe(shown.length);
});

test("a kind and a workspace are chosen together", () => {
  const from = source([
    session("a"),
    session("b", { kind: "agent" }),
    session("c", { kind: "agent", workspace_id: "wsp_b" }),
  ]);
  expect(draw(rowsOf(from, { choice: { kind: "agent" } }))).toEqual(["b", "c"]);
  expect(draw(rowsOf(from, { choice: { kind: "agent", workspaceId: "wsp_b" } }))).toEqual(["c"]);
  expect(countPhases(from, { ...everything, workspaceId: "wsp_a" }).all).toBe(2);
});

test.each([
  ["its name", "rollout"],
  ["its title", "DEPLOY"],
  ["its command", "make"],
  ["its directory", "/home/ada"],
  ["its id", "ses_x"],
  ["its agent", "reviewer"],
  ["words of different places, in any order", "  ada   deploy  "],
])("a session is found by %s", (_name, search) => {
  const wanted = session("ses_x", {
    name: "rollout",
    ...{ title: "Deploy it", argv: ["make", "-j4"], work_dir: "/home/ada", agent: "Reviewer" },
  });
  const from = source([wanted, session("other")]);
  expect(draw(rowsOf(from, { choice: { search } }))).toEqual(["ses_x"]);
  expect(draw(rowsOf(from, { choice: { search: `${search} nowhere` } }))).toEqual([]);
});

test("the newest are first, those of one moment in a settled order", () => {
  const at = (moment: string) => ({ created_at: `2026-01-0${moment}T00:00:00.000Z` });
  const from = source([session("c", at("1")), session("a", at("2")), session("b", at("2"))]);
  expect(draw(rowsOf(from, { choice: { order: "newest" } }))).toEqual(["a", "b", "c"]);
});

test("names are sorted as people count", () => {
  const from = source([session("x", { title: "run 10" }), session("y", { title: "run 9" })]);
  expect(draw(rowsOf(from))).toEqual(["y", "x"]);
});

test("the last activity may be known better than the session says, and a child raises its parent", () => {
  const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`;
  const heard = new Map([
    ["b", at(5)],
    ["c", at(1)],
  ]);
  const from = source(
    [
      session("a", { last_io_at: at(4) }),
      session("b", { last_io_at: at(1) }),
      session("c", { last_io_at: at(3) }),
      session("d", { last_io_at: at(1) }),
      session("e", { last_io_at: at(6), ...under("d") }),
    ],
    { findActivity: (id) => heard.get(id) },
  );
  expect(draw(rowsOf(from, { choice: { order: "activity" } }))).toEqual(["d", "-e", "b", "a", "c"]);
});

test("in the rail whoever asks comes first, with its parents", () => {
  const sessions = [session("a"), session("b"), session("c", under("b")), session("d", under("b"))];
  const from = source(sessions, { asking: new Set(["d"]) });
  expect(draw(rowsOf(from, { askingFirst: true }))).toEqual(["b", "-d", "-c", "a"]);
  expect(draw(rowsOf(from))).toEqual(["a", "b", "-c", "-d"]);
});

test("every session is shown once, after its parent if that is shown", () => {
  const parents = fc.array(fc.option(fc.nat(30), { nil: undefined }), { maxLength: 31 });
  fc.assert(
    fc.property(parents, (links) => {
      const sessions = links.map((link, at) =>
        session(`s${at}`, link === undefined ? {} : under(`s${link}`)),
      );
      const shown = rowsOf(source(sessions)).map((row): string => row.session.session_id);
      expect(shown.toSorted()).toEqual(sessions.map((one) => one.session_id).toSorted());
      for (const row of rowsOf(source(sessions)))
        if (row.level > 1)
          expect(shown.indexOf(row.session.parent_session_id ?? "")).toBeLessThan(
            shown.indexOf(row.session.session_id),
          );
    }),
  );
});
