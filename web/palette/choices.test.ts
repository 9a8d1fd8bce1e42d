import { expect, test } from "vitest";
import { type Choice, findChoices } from "./choices.ts";
import { addRecent, parseRecent } from "./recent.ts";

function command(id: string, fields: Partial<Choice> = {}): Choice {
  return {
    ...{ id, kind: "command", title: id, note: "Group", words: [], icon: "play" },
    ...{ isAsking: false, isLive: false, at: "", run: () => undefined },
    ...fields,
  };
}

function session(id: string, fields: Partial<Choice> = {}): Choice {
  return command(id, { kind: "session", isLive: true, at: "2026-01-01T00:00:00.000Z", ...fields });
}

function ids(choices: readonly Choice[], query = "", recent: readonly string[] = []) {
  const sections = findChoices(choices, { query, recent });
  return sections.map(({ title, found }) => [title, ...found.map(({ choice }) => choice.id)]);
}

test("before anything is typed: who asks, what was chosen last, what runs, what can be done", () => {
  const choices = [
    command("log out"),
    command("open"),
    session("old", { isLive: false, at: "2026-01-09T00:00:00.000Z" }),
    session("quiet"),
    session("busy", { at: "2026-01-02T00:00:00.000Z" }),
    session("asks", { isAsking: true }),
  ];
  expect(ids(choices, "", ["gone", "open", "asks"])).toEqual([
    ["Waiting for an answer", "asks"],
    ["Recent", "open"],
    ["Sessions", "busy", "quiet", "old"],
    ["Commands", "log out"],
  ]);
});

test("every word must be found, in whatever part", () => {
  const choices = [
    session("ses_a", { title: "make test", note: "/home/ann/reins", words: ["ses_a"] }),
    session("ses_b", { title: "make docs", note: "/home/ann/other", words: ["ses_b"] }),
  ];
  expect(ids(choices, "reins make")).toEqual([["Best matches", "ses_a"]]);
  expect(ids(choices, "ses_b")).toEqual([["Best matches", "ses_b"]]);
  expect(ids(choices, "make xyz")).toEqual([]);
});

test("the title counts more than the rest", () => {
  const choices = [command("a", { note: "shell" }), command("b", { title: "Open a shell" })];
  expect(ids(choices, "shell")).toEqual([["Best matches", "b", "a"]]);
});

test("of equals, what was chosen last comes first", () => {
  const choices = ["a", "b", "c"].map((id) => command(id, { title: "Show it" }));
  expect(ids(choices, "show", ["c", "b"])).toEqual([["Best matches", "c", "b", "a"]]);
});

test("an agent that asks comes before one that only runs, and that before an ended one", () => {
  const choices = [
    session("a", { title: "agent", isLive: false }),
    session("b", { title: "agent" }),
    session("c", { title: "agent", isAsking: true }),
  ];
  expect(ids(choices, "agent")).toEqual([["Best matches", "c", "b", "a"]]);
});

test("what of the title was meant is marked", () => {
  const [section] = findChoices([command("a", { title: "Open a shell" })], {
    query: "she op",
    recent: [],
  });
  expect(section?.found[0]?.spans).toEqual([
    [0, 2],
    [7, 10],
  ]);
});

test("however many there are, a screenful or two is shown", () => {
  const many = Array.from({ length: 5000 }, (_, index) => session(`ses_${index}`));
  expect(findChoices(many, { query: "ses", recent: [] })[0]?.found).toHaveLength(40);
  expect(findChoices(many, { query: "", recent: [] })[0]?.found).toHaveLength(8);
});

test("the newest choice is remembered first, once, and only so many are", () => {
  expect(addRecent(["a", "b"], "b")).toEqual(["b", "a"]);
  const many = Array.from({ length: 30 }, (_, index) => String(index));
  expect(addRecent(many, "new")).toHaveLength(12);
});

test("what a browser remembered wrong is forgotten", () => {
  expect(parseRecent({ a: 1 })).toEqual([]);
  expect(parseRecent(["a", 1, null, "b"])).toEqual(["a", "b"]);
});
