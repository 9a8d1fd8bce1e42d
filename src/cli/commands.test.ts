import { describe, expect, test } from "vitest";
import { commands } from "./commands.ts";
import { describeAll, describeCommand } from "./help.ts";

const names = Object.keys(commands);
const rows = Object.entries(commands);

describe.each(rows)("reins %s", (name, spec) => {
  const known = spec.options.flatMap(([flag]) => findFlags(flag));

  test("has a summary that is one sentence", () => {
    expect(spec.summary).toMatch(/^[A-Z][^\n]*[^.]\.$/);
  });

  test("has a usage whose every way begins with its name and whose options are listed", () => {
    for (const way of spec.usage.split(/ \| (?=reins )/))
      expect(`${way} `).toMatch(new RegExp(`^reins ${name} `));
    expect(findFlags(spec.usage).filter((flag) => !known.includes(flag))).toEqual([]);
  });

  test("lists each option once, with what it means", () => {
    expect(known.toSorted()).toEqual([...new Set(known)].toSorted());
    for (const [flag, meaning] of spec.options) {
      expect(flag).toMatch(/^--?[a-z]/);
      expect(meaning).toMatch(/^\S.*[^.\s]$/);
    }
  });

  test("has examples of itself that use only its own options", () => {
    expect(spec.examples.length).toBeGreaterThan(0);
    for (const example of spec.examples) {
      const own = new RegExp(`(?:^|\\| )reins ${name}(?= |$)([^|]*)`).exec(example)?.[1];
      expect(own, example).toBeDefined();
      // Behind `--` stand a program and its options.
      const flags = findFlags((own ?? "").split(" -- ")[0] ?? "");
      expect(flags.filter((flag) => ![...known, "-h", "--help"].includes(flag))).toEqual([]);
    }
  });

  test("is loaded by its row", async () => {
    expect((await spec.load()).run).toBeTypeOf("function");
  });

  test("has a help that says all of it", () => {
    const text = describeCommand(spec);
    for (const said of [spec.summary, spec.usage, ...spec.options.flat(), ...spec.examples])
      expect(text).toContain(said);
    expect(text).toContain("-h, --help");
  });
});

test("the list names every command that is not hidden, in columns", () => {
  const listed = [...describeAll().matchAll(/^ {2}([a-z]+) +(\S.*)$/gm)].map((row) => row[1]);
  expect(listed).toEqual(names.filter((name) => commands[name]?.hidden !== true));
  const starts = [...describeAll().matchAll(/^ {2}[a-z]+ +(?=[A-Z])/gm)].map(([row]) => row.length);
  expect(new Set(starts).size).toBe(1);
});

/** Names of options in a text; what stands in quotes is somebody's sentence. */
function findFlags(text: string): string[] {
  const bare = text.replace(/"[^"]*"|'[^']*'/g, "");
  return bare.match(/(?<![\w-])(?:--[a-z][\w-]*|-[a-zA-Z](?![\w-]))/g) ?? [];
}
