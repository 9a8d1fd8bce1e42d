import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeHidden, findHidden, revealHidden, splitHidden } from "./hidden-characters.ts";

const point = String.fromCodePoint;

const UNSEEN = /[\p{Bidi_Control}\p{Zl}\p{Zp}\u200B-\u200F]|[^\P{Cc}\n\t]/u;

/** First and last of each range that no reader sees. */
const HIDDEN = [
  ...[0x00, 0x08, 0x0b, 0x0d, 0x1b, 0x1f, 0x7f, 0x80, 0x9b, 0x9f, 0xad, 0x034f, 0x061c],
  ...[0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180f, 0x200b, 0x200c, 0x200d, 0x200f],
  ...[0x2028, 0x2029, 0x202a, 0x202e, 0x2060, 0x2069, 0x206f, 0x2800, 0x3164, 0xfe00, 0xfe0f],
  ...[0xfeff, 0xffa0, 0xfff9, 0xfffb, 0xe0001, 0xe0041, 0xe007f, 0xe0100, 0xe01ef],
  ...[0xd800, 0xdfff],
];

describe("hidden characters", () => {
  test.each(HIDDEN.map((code) => [code.toString(16), code] as const))(
    "U+%s is shown",
    (_, code) => {
      const text = `a${point(code)}b`;
      for (const reading of ["decision", "prose"] as const)
        expect(revealHidden(text, reading)).toMatch(/^a⟨U\+[0-9A-F]{4,6}⟩b$/);
      expect(findHidden({ deep: [text] })).toHaveLength(1);
      expect(findHidden({ [text]: 1 })).toHaveLength(1);
    },
  );

  test.each([
    ["a name that is turned around", "safe_\u202etxt.sh", "safe_⟨U+202E⟩txt.sh"],
    ["a command that is isolated", "rm \u2066x\u2069 /", "rm ⟨U+2066⟩x⟨U+2069⟩ /"],
    ["an escape sequence", "\x1b]0;t\x07", "⟨U+001B⟩]0;t⟨U+0007⟩"],
    ["a flood of the same", `a${"\u200b".repeat(40)}b`, "a⟨U+200B ×40⟩b"],
    ["text smuggled in tags", "ok\u{E0072}\u{E006D}", "ok⟨U+E0072⟩⟨U+E006D⟩"],
    ["selectors behind an emoji", "😀\ufe0f\ufe01", "😀\ufe0f⟨U+FE01⟩"],
    ["a carriage return inside a line", "safe\rrm", "safe⟨U+000D⟩rm"],
  ])("%s reads as what it is", (_, text, shown) => {
    expect(revealHidden(text, "decision")).toBe(shown);
    expect(revealHidden(text, "prose")).toBe(shown);
  });

  test.each([
    ["letters of every script", "héllo 日本 привет שלום مرحبا"],
    ["line ends and tabs", "one\n\ttwo\r\nthree"],
    ["emoji in color", "⚠️ ❤️ 1️⃣ 👍🏽 🇩🇪"],
  ])("%s stay as they are", (_, text) => {
    expect(splitHidden(text, "decision")).toEqual([text]);
    expect(splitHidden(text, "prose")).toEqual([text]);
    expect(describeHidden({ text })).toBeUndefined();
  });

  test.each([
    ["an emoji of several", "👩‍💻", "👩⟨U+200D⟩💻"],
    ["an emoji with a skin tone", "👩🏽‍🚒", "👩🏽⟨U+200D⟩🚒"],
    ["a Persian word", "می‌خواهم", "می⟨U+200C⟩خواهم"],
    ["a Hindi word", "क्‍ष", "क्⟨U+200D⟩ष"],
    ["a variant of a Han character", "葛\u{E0100}", "葛⟨U+E0100⟩"],
  ])("%s stays in prose and is shown in what is decided on", (_, text, shown) => {
    expect(revealHidden(text, "prose")).toBe(text);
    expect(revealHidden(text, "decision")).toBe(shown);
  });

  test("a joiner between other letters is shown in prose too", () => {
    expect(revealHidden("pay\u200dpal", "prose")).toBe("pay⟨U+200D⟩pal");
    expect(revealHidden("a\u200c", "prose")).toBe("a⟨U+200C⟩");
  });

  test("whatever the text is, nothing hidden is left, and nothing else is lost", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 0x10ffff })), (codes) => {
        const text = point(...codes);
        const shown = revealHidden(text, "decision");
        expect(UNSEEN.test(shown.replaceAll("\r\n", ""))).toBe(false);
        const visible = splitHidden(text, "decision").filter((piece) => typeof piece === "string");
        expect(visible.every((piece) => text.includes(piece))).toBe(true);
      }),
    );
  });

  test("the kinds are named, the first three of them", () => {
    expect(describeHidden({ command: "\u202ea\u200bb\u200b" })).toBe(
      "right-to-left override (U+202E), zero width space (U+200B)",
    );
    expect(describeHidden("\u202e\u200b\u2060\x1b\u{E0041}")).toBe(
      "right-to-left override (U+202E), zero width space (U+200B), word joiner (U+2060) and 2 more",
    );
  });
});
