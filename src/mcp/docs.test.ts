import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ToolHints } from "#contract/tools/tool-spec.ts";
import { tools } from "#contract/tools/tools.ts";

const page = readFileSync(new URL("../../docs/mcp.md", import.meta.url), "utf8");

test("the page lists every tool, with the first sentence that models are told", () => {
  const rows = Object.entries(tools).map(
    ([name, { description, hints }]) =>
      `| \`${name}\` | ${description.split(/(?<=\.) /)[0]} | ${kindOf(hints)} |`,
  );
  expect(page.split("\n").filter((line) => /^\| `\w+` \|/.test(line))).toEqual(rows);
});

function kindOf({ read_only, idempotent }: ToolHints): string {
  if (read_only) return "reads";
  return idempotent ? "ends" : "acts";
}
