import { expect, test } from "vitest";
import { parseOptions, parseSeconds, parseSince, refuseWords, splitCommand } from "./options.ts";

const options = {
  detach: { type: "boolean", short: "d" },
  tty: { type: "boolean" },
  title: { type: "string" },
} as const;

test("options and words are told apart", () => {
  const { values, positionals } = parseOptions(
    ["-d", "--no-tty", "--title=x y", "a", "b"],
    options,
  );
  expect(values).toEqual({ detach: true, tty: false, title: "x y" });
  expect(positionals).toEqual(["a", "b"]);
});

test.each([
  [["--bogus"], "Unknown option '--bogus'"],
  [["-x"], "Unknown option '-x'"],
  [["--title"], "Option '--title <value>' argument missing"],
  [["--title", "-d"], "Option '--title' argument is ambiguous"],
  [["--detach=yes"], "Option '-d, --detach' does not take an argument"],
])("%j is refused in one sentence", (argv, message) => {
  expect(() => parseOptions(argv, options)).toThrow(
    expect.objectContaining({ code: "invalid_request", message }),
  );
});

test("a word too many is refused by its name", () => {
  expect(() => refuseWords([])).not.toThrow();
  expect(() => refuseWords(["extra", "more"])).toThrow(
    expect.objectContaining({
      code: "invalid_request",
      message: 'there is no use for "extra" here',
    }),
  );
});

test.each([
  [[], [], []],
  [["ls"], [], ["ls"]],
  [["ls", "-l"], [], ["ls", "-l"]],
  [["-d", "ls", "-d"], ["-d"], ["ls", "-d"]],
  [["--", "ls"], [], ["ls"]],
  [["-d", "--", "-x", "--"], ["-d"], ["-x", "--"]],
  [["--"], [], []],
  [["--title", "ls", "make"], ["--title", "ls"], ["make"]],
  [["--title=ls", "make"], ["--title=ls"], ["make"]],
  [["--title", "--", "make"], ["--title", "--"], ["make"]],
  [["-", "x"], [], ["-", "x"]],
  [["", "x"], [], ["", "x"]],
])("%j is split into our words and the program's", (argv, ours, command) => {
  expect(splitCommand(argv, ["--title"])).toEqual({ ours, command });
});

test.each([
  [undefined, undefined],
  ["0", 0],
  ["1", 1000],
  ["0.5", 500],
  ["1e2", 100_000],
  [" 3 ", 3000],
])("%j seconds are %j milliseconds", (text, ms) => {
  expect(parseSeconds(text, "lifetime")).toBe(ms);
});

test.each(["", " ", "-1", "x", "1s", "NaN", "Infinity", "1e999", "1,5"])(
  "%j is no number of seconds",
  (text) => {
    expect(() => parseSeconds(text, "lifetime")).toThrow(
      expect.objectContaining({
        code: "invalid_request",
        message: `--lifetime: ${JSON.stringify(text)} is not a number of seconds`,
      }),
    );
  },
);

test.each([
  [undefined, undefined],
  ["tail", "tail"],
  ["0", 0],
  ["42", 42],
  ["-1", -1],
  ["9007199254740991", Number.MAX_SAFE_INTEGER],
])("%j is an offset", (text, offset) => {
  expect(parseSince(text)).toBe(offset);
});

test.each(["", " ", "x", "1.5", "1e3", "0x10", "+1", "Tail", "1 2", "9007199254740992", "--1"])(
  "%j is no offset",
  (text) => {
    expect(() => parseSince(text)).toThrow(
      expect.objectContaining({
        code: "invalid_request",
        message: `--since: ${JSON.stringify(text)} is neither an offset nor \`tail\``,
      }),
    );
  },
);
