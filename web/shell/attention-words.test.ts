import { expect, test } from "vitest";
import type { Session } from "#contract/session.ts";
import { describeCrash, isPartMissing } from "#web/app/crash-words.ts";
import type { Route } from "#web/app/router.ts";
import type { News } from "./attention-news.ts";
import {
  chooseWay,
  countNotice,
  formatTitle,
  namePlace,
  sayNews,
  stillUnseen,
} from "./attention-words.ts";

const exited = {
  kind: "exited",
  exit_code: 0,
  signal: null,
  reason: "exited",
  tail: 0,
  final: true,
} as const;

function news(kind: News["kind"], state: object = exited): News {
  // Only what is looked at.
  return { kind, session: { session_id: "ses_a", state } as Session };
}

const list: Route = { name: "sessions" };
const health: Route = { name: "health" };
const own: Route = { name: "session", sessionId: "ses_a" };
const other: Route = { name: "session", sessionId: "ses_b" };

test("the title counts what waits and names what is open", () => {
  expect(formatTitle(0, undefined)).toBe("Reins");
  expect(formatTitle(2, undefined)).toBe("(2) Reins");
  expect(formatTitle(0, "make test")).toBe("make test · Reins");
  expect(formatTitle(3, namePlace(health))).toBe("(3) Health · Reins");
});

test("a long name is cut between characters", () => {
  expect([...formatTitle(0, "🐎".repeat(100))]).toHaveLength(60 + " · Reins".length);
});

test("a hidden page calls by the desktop, a visible one by a toast", () => {
  expect(chooseWay(news("asks"), { isHidden: true, route: own })).toBe("desktop");
  expect(chooseWay(news("asks"), { isHidden: false, route: other })).toBe("toast");
  expect(chooseWay(news("ended"), { isHidden: false, route: list })).toBe("toast");
});

test("who looks at the session hears nothing of it", () => {
  expect(chooseWay(news("asks"), { isHidden: false, route: own })).toBe("none");
  expect(chooseWay(news("ended"), { isHidden: false, route: own })).toBe("none");
});

test("what was closed is told only where nobody looks", () => {
  const closed = news("ended", { ...exited, reason: "user_requested" });
  expect(chooseWay(closed, { isHidden: false, route: list })).toBe("none");
  expect(chooseWay(closed, { isHidden: true, route: list })).toBe("desktop");
});

test("an end is unseen until its session or the list of all is looked at", () => {
  const unseen = new Set(["ses_a", "ses_b"]);
  const left = (route: Route, isHidden = false) => [...stillUnseen(unseen, { route, isHidden })];
  expect(left(list)).toEqual([]);
  expect(left(own)).toEqual(["ses_b"]);
  expect(left(health)).toEqual(["ses_a", "ses_b"]);
  expect(left(list, true)).toEqual(["ses_a", "ses_b"]);
});

test.each([
  [{}, "a has finished"],
  [{ exit_code: 3 }, "a failed with exit code 3"],
  [{ exit_code: 143, signal: "SIGTERM" }, "a was ended by SIGTERM"],
  [{ exit_code: null }, "a could not be started"],
  [{ reason: "user_requested", signal: "SIGHUP" }, "a was closed"],
  [{ reason: "idle_timeout" }, "a ended because its time was over"],
])("an end with %o is said in words", (fields, words) => {
  expect(sayNews(news("ended", { ...exited, ...fields }), "a")).toBe(words);
});

test("a question and a loss are said in words", () => {
  expect(sayNews(news("asks"), "a")).toBe("a needs an answer");
  expect(sayNews(news("ended", { kind: "lost", reason: "host_lost" }), "a")).toBe(
    "a was lost with its host",
  );
});

test("a flood of notices becomes one, and after a while they come again", () => {
  let shown: readonly number[] = [];
  const tooMany = Array.from({ length: 6 }, (_, index) => {
    const counted = countNotice(shown, index);
    shown = counted.shown;
    return counted.isTooMany;
  });
  expect(tooMany).toEqual([false, false, false, false, true, true]);
  expect(countNotice(shown, 20_000)).toEqual({ shown: [20_000], isTooMany: false });
});

test.each([
  "Failed to fetch dynamically imported module: http://127.0.0.1:7777/assets/session-page-Ab3.js",
  "error loading dynamically imported module: http://127.0.0.1/assets/a.js",
  "Importing a module script failed.",
  "Unable to preload CSS for /assets/session-page-Ab3.css",
])("%s says that a part is missing", (message) => {
  expect(isPartMissing(new TypeError(message))).toBe(true);
  expect(describeCrash(new TypeError(message), false).title).toBe("Reins was updated; reload");
  expect(describeCrash(new TypeError(message), true).text).toContain("cannot be reached");
});

test("any other failure says what it was, as long as that is short enough to read", () => {
  expect(describeCrash(new Error("x is undefined"), false).text).toContain("x is undefined");
  expect(describeCrash("thrown text", false).text).toContain("thrown text");
  expect(describeCrash(new Error("x".repeat(9000)), false).text.length).toBeLessThan(700);
});
