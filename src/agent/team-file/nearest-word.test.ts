import { expect, test } from "vitest";
import { findNearest } from "./nearest-word.ts";

const words = ["model", "instruction", "sub_agents", "handoffs", "add_date", "max_iterations"];

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
  expect(findNearest(given, words)).toBe(meant);
});

test.each(["", "x", "zebra", "ma", "temperature", "model", "m".repeat(100)])(
  "%j means none of them",
  (given) => {
    expect(findNearest(given, words)).toBeUndefined();
  },
);
