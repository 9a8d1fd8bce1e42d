import { expect, test } from "vitest";
import { describeFilter, isSessionId, listDetails, NO_FILTER, sayAction } from "./audit-words.ts";
import { countSessions, formatLimit, listHostFacts, nameLimit } from "./health-words.ts";
import { addPage, fail, NO_PAGES, type Pages, ROWS_KEPT } from "./pages.ts";
import { isEndingSoon, NO_DRAFT, readDraft, sayScope } from "./token-words.ts";

const NONE: Pages<number> = NO_PAGES;

test("pages follow each other until there is no cursor", () => {
  const first = addPage(NONE, { rows: [1, 2], cursor: "c" }, undefined);
  expect(first).toMatchObject({ rows: [1, 2], cursor: "c", isBusy: false });
  const second = addPage(first, { rows: [3], cursor: null }, "c");
  expect(second).toMatchObject({ rows: [1, 2, 3], cursor: undefined, isFull: false });
});

test("a first page takes the place of all", () => {
  const before = addPage(NONE, { rows: [1, 2], cursor: "c" }, undefined);
  expect(addPage(before, { rows: [9], cursor: null }, undefined).rows).toEqual([9]);
});

test("a list that is full says so and asks for no more", () => {
  const rows = Array.from({ length: ROWS_KEPT + 5 }, (_, index) => index);
  const full = addPage(NONE, { rows, cursor: "c" }, undefined);
  expect(full).toMatchObject({ cursor: undefined, isFull: true });
  expect(full.rows).toHaveLength(ROWS_KEPT);
});

test("a later page that fails leaves what is there, a first one nothing", () => {
  const before = addPage(NONE, { rows: [1], cursor: "c" }, undefined);
  const error = new Error("away");
  expect(fail(before, error, "c")).toMatchObject({ rows: [1], cursor: "c", error });
  expect(fail(before, error, undefined)).toMatchObject({ rows: [], error, isBusy: false });
});

test("only what was filled in is asked for", () => {
  expect(describeFilter(NO_FILTER)).toEqual({});
  expect(describeFilter({ ...NO_FILTER, user_id: " ann ", action: "token.created" })).toEqual({
    user_id: "ann",
    action: "token.created",
  });
});

test("an action is said in words, one of a newer server by its name", () => {
  expect(sayAction("session.taken_over")).toBe("took control");
  expect(sayAction("moon.landed")).toBe("moon.landed");
  expect(sayAction("constructor")).toBe("constructor");
});

test("details are short, and empty ones are left out", () => {
  const details = { exit_code: 3, name: "x".repeat(500), nothing: null, empty: "", list: ["a"] };
  const [code, name, list, ...others] = listDetails({ details });
  expect([code, list, others]).toEqual(["exit code: 3", 'list: ["a"]', []]);
  expect(name?.length).toBeLessThan(150);
});

test("only a whole session id is one", () => {
  expect(isSessionId("ses_0123456789abcdef")).toBe(true);
  for (const id of ["tok_0123456789abcdef", "ses_", "ses_0123456789abcdef/x", null])
    expect(isSessionId(id)).toBe(false);
});

test("a draft without a user, or with a wrong one, says what is wrong", () => {
  expect(readDraft(NO_DRAFT)).toEqual({ faults: { user_id: "Say who it is for." } });
  expect(readDraft({ ...NO_DRAFT, user_id: "ann smith" })).toHaveProperty("faults.user_id");
  expect(readDraft({ ...NO_DRAFT, user_id: "ann", scope: "chosen" })).toEqual({
    faults: { chosen: "Choose at least one workspace." },
  });
});

test("a draft is asked for with what was chosen", () => {
  expect(readDraft({ ...NO_DRAFT, user_id: " ann " })).toEqual({
    asked: { user_id: "ann", role: "operator", expires_in_ms: 2_592_000_000 },
  });
  const whole = {
    label: " ci ",
    user_id: "ci@build",
    role: "viewer",
    scope: "chosen",
    chosen: ["wsp_local"],
    lifetime: "Until it is revoked",
  } as const;
  expect(readDraft(whole)).toEqual({
    asked: { label: "ci", user_id: "ci@build", role: "viewer", workspaces: ["wsp_local"] },
  });
});

test("what was chosen before is not asked for when all is", () => {
  const draft = { ...NO_DRAFT, user_id: "ann", chosen: ["wsp_local"] };
  expect(readDraft(draft)).not.toHaveProperty("asked.workspaces");
});

test("a token that ends within days is ending soon", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  expect(isEndingSoon({ expires_at: "2026-01-02T00:00:00Z" }, now)).toBe(true);
  expect(isEndingSoon({ expires_at: "2026-01-09T00:00:00Z" }, now)).toBe(false);
  expect(isEndingSoon({ expires_at: null }, now)).toBe(false);
});

test("the workspaces of a token are named, and many are counted", () => {
  const names = new Map([["wsp_a", "one"]]);
  const say = (workspaces: unknown) =>
    // The brand of an id is the schema's business.
    sayScope({ workspaces } as Parameters<typeof sayScope>[0], names);
  expect(say("*")).toBe("every workspace");
  expect(say(["wsp_a"])).toBe("one");
  expect(say(["wsp_a", "wsp_b"])).toBe("one, wsp_b");
  expect(say(["wsp_a", "wsp_b", "wsp_c"])).toBe("one and 2 others");
});

test("sessions are counted by what runs", () => {
  const ended = { kind: "lost", reason: "host_lost" } as const;
  const counts = countSessions([
    { kind: "agent", state: { kind: "running" } },
    { kind: "terminal", state: { kind: "starting" } },
    { kind: "command", state: ended },
  ]);
  expect(counts).toEqual({ running: 2, ended: 1, agents: 1, terminals: 1, commands: 0 });
});

test.each([
  ["body_bytes", 1_048_576, "body: 1.0 MiB"],
  ["grace_ms", 250, "grace: 250 ms"],
  ["ticket_ms", 60_000, "ticket: 1 min"],
  ["sessions_live", 2000, "sessions live: 2,000"],
])("%s is shown with its unit", (name, value, shown) => {
  expect(`${nameLimit(name)}: ${formatLimit(name, value)}`).toBe(shown);
});

test("a host tells what it knows and nothing else", () => {
  expect(listHostFacts({ ok: true, pid: 7, live: 3, live_cap: 2000, errors: 0 })).toEqual([
    { name: "Process", value: "7" },
    { name: "Live sessions", value: "3 of 2000" },
    { name: "Errors", value: "0" },
  ]);
  expect(listHostFacts({ ok: false })).toEqual([]);
});
