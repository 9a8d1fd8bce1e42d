import { expect, test } from "vitest";
import { chooseToolName } from "./team-mcp.ts";

test("an agent's name becomes one that a tool may have, and no two are the same", () => {
  expect(chooseToolName("root", new Set())).toBe("root");
  expect(chooseToolName("the.boss & co", new Set())).toBe("the_boss___co");
  expect(chooseToolName("a.b", new Set(["a_b"]))).toBe("a_b_2");
  expect(chooseToolName("a.b", new Set(["a_b", "a_b_2"]))).toBe("a_b_3");
  const long = "x".repeat(200);
  expect(chooseToolName(long, new Set())).toBe("x".repeat(64));
  expect(chooseToolName(long, new Set(["x".repeat(64)]))).toBe(`${"x".repeat(62)}_2`);
});
