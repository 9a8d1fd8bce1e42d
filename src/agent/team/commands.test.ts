// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as they stand in a team file.
import { describe, expect, test } from "vitest";
import { expandCommand } from "./commands.ts";

const commands = {
  fix: said("Fix ${args} now."),
  move: said("Move ${args[0]} to ${args[1]}, then ${args[0]} again."),
  review: said("Review the change."),
};

describe("a command", () => {
  test.each([
    ["/fix", "Fix  now."],
    ["/fix the bug", "Fix the bug now."],
    ["  /fix   a  b \n", "Fix a  b now."],
    ["/fix line one\nline two", "Fix line one\nline two now."],
    ["/fix $& $1 ${args} ${args[0]}", "Fix $& $1 ${args} ${args[0]} now."],
    ["/move a b", "Move a to b, then a again."],
    ['/move "a b" c', "Move a b to c, then a b again."],
    ['/move \'a b\' "say \\"hi\\""', 'Move a b to say "hi", then a b again.'],
    ["/move a", "Move a to , then a again."],
    ["/review", "Review the change."],
    ["/review of today", "Review the change.\n\nof today"],
  ])("%j is expanded", (text, expected) => {
    expect(expandCommand(commands, text)).toBe(expected);
  });

  test.each(["fix", "/fixx", "/", "", "/FIX x", "say /fix", "/toString", "/fix/x", "//fix"])(
    "%j is none",
    (text) => {
      expect(expandCommand(commands, text)).toBeUndefined();
    },
  );
});

function said(instruction: string) {
  return { description: "", instruction };
}
