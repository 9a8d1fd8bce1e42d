import { expect, test } from "vitest";
import { findNearest } from "./nearest.ts";

const words = ["attach", "answer", "ps", "watch", "wait", "turn.ended", "turn.started"];

test.each([
  ["atach", "attach"],
  ["attahc", "attach"],
  ["WATCH", "watch"],
  ["wath", "watch"],
  ["sp", "ps"],
  ["turn.end", "turn.ended"],
  ["turns.started", "turn.started"],
  ["attachment", "attach"],
])("%s is near %s", (word, nearest) => {
  expect(findNearest(word, words)).toBe(nearest);
});

test.each(["", "xylophone", "a", "z".repeat(1_000_000)])("nothing is near %.10s", (word) => {
  expect(findNearest(word, words)).toBeUndefined();
});

test.each(["upsert", "xpsx"])(
  "a word of two letters is not near %s, which has them in it",
  (word) => {
    expect(findNearest(word, ["ps"])).toBeUndefined();
  },
);

test("nothing is near when there is nothing", () => {
  expect(findNearest("watch", [])).toBeUndefined();
});

const fields = ["model", "instruction", "sub_agents", "handoffs", "add_date", "max_iterations"];

test.each([
  ["modle", "model"],
  ["Model", "model"],
  ["instructon", "instruction"],
  ["instructions", "instruction"],
  ["subAgents", "sub_agents"],
  ["sub-agents", "sub_agents"],
  ["max_iteration", "max_iterations"],
  ["handoff", "handoffs"],
  ["max", "max_iterations"],
])("%s means %s", (given, meant) => {
  expect(findNearest(given, fields)).toBe(meant);
});

test.each(["", "x", "zebra", "ma", "temperature", "model", "m".repeat(100)])(
  "%j means none of them",
  (given) => {
    expect(findNearest(given, fields)).toBeUndefined();
  },
);
