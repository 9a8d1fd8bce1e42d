import fc from "fast-check";

const number = fc.integer({ min: 0, max: 12 });
const texts = [
  "a",
  "hello ",
  "zebra",
  "漢字",
  "é",
  "e\u0301",
  "👍",
  "x".repeat(30),
  "\u0302",
  "─┐",
  "~`q",
];
const privateModes = [
  1, 6, 7, 12, 25, 45, 47, 66, 9, 1000, 1002, 1003, 1004, 1006, 1016, 1047, 1048, 1049, 2004, 2026,
];
const looks = [
  ...["0", "1", "2", "3", "4", "5", "7", "8", "9", "53", "22", "24", "27", "4:3", "4:0", "21"],
  ...["31", "44", "97", "103", "39", "49", "38;5;200", "48;5;17", "38;2;1;2;3", "48;2;9;8;7"],
  ...["58:5:3", "58:2::1:2:3", "59", "1;31;42"],
];
const controls = ["\r", "\n", "\r\n", "\t", "\b", "\x0b", "\x0e", "\x0f", "\x07", "\x84"];
const escapes = [
  "7",
  "8",
  "D",
  "E",
  "M",
  "H",
  "=",
  ">",
  "(0",
  "(B",
  ")0",
  "*A",
  "n",
  "o",
  "#8",
  "c",
];

/** A piece of what programs send, and of what they should not. */
export const piece: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...texts) },
  { weight: 3, arbitrary: fc.constantFrom(...controls) },
  { weight: 4, arbitrary: fc.constantFrom(...looks).map((look) => `\x1b[${look}m`) },
  { weight: 2, arbitrary: fc.constantFrom(...escapes).map((rest) => `\x1b${rest}`) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom(..."@ABCDEFGHIJKLMPSTXZ`abdefgr"), number, number)
      .map(([final, a, b]) =>
        `Hfr`.includes(final) ? `\x1b[${a};${b}${final}` : `\x1b[${a}${final}`,
      ),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...privateModes), fc.constantFrom("h", "l"))
      .map(([mode, final]) => `\x1b[?${mode}${final}`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...[
        "\x1b[4h",
        "\x1b[4l",
        "\x1b[!p",
        "\x1b[3 q",
        "\x1b[6 q",
        "\x1b[0 q",
        '\x1b[1"q',
        '\x1b[0"q',
      ],
      ...[
        "\x1b[?1J",
        "\x1b[?2K",
        "\x1b]2;title\x07",
        "\x1b]0;other\x1b\\",
        "\x1b[c",
        "\x1b[6n",
        "\x1bP$qm\x1b\\",
      ],
      ...[
        "\x1b]8;;http://a\x07link\x1b]8;;\x07",
        "\x1b]8;id=7;http://b/;c\x1b\\",
        "\x1b]8;;\x1b\\",
        "\x1b[20;3S",
        "\x1b[999999999b",
        "\x1b[2147483647L",
      ],
    ),
  },
);

export type Step =
  | { readonly kind: "print"; readonly text: string }
  | { readonly kind: "resize"; readonly cols: number; readonly rows: number };

export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 30, arbitrary: piece.map((text) => ({ kind: "print" as const, text })) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("resize" as const),
      cols: fc.integer({ min: 2, max: 24 }),
      rows: fc.integer({ min: 1, max: 8 }),
    }),
  },
);
