import fc from "fast-check";
import { expect, test } from "vitest";
import { unfinishedBytes } from "./utf8.ts";

test("a text that is cut anywhere has whole characters before what is unfinished", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(), (text, at) => {
      const bytes = Buffer.from(text);
      const cut = bytes.subarray(0, at % (bytes.length + 1));
      const whole = cut.subarray(0, cut.length - unfinishedBytes(cut));
      expect(bytes.toString().startsWith(whole.toString())).toBe(true);
      expect(cut.length - whole.length).toBeLessThan(4);
      // Nothing that is whole is held back.
      const rest = bytes.subarray(whole.length).toString();
      expect(whole.toString() + rest).toBe(bytes.toString());
    }),
  );
});

test.each([
  ["an empty one", [], 0],
  ["letters", [0x61, 0x62], 0],
  ["a whole character", [0xe2, 0x82, 0xac], 0],
  ["the first byte of two", [0x61, 0xc3], 1],
  ["two bytes of three", [0xe2, 0x82], 2],
  ["three bytes of four", [0xf0, 0x9f, 0x98], 3],
  ["a byte that begins none", [0xff], 0],
  ["bytes that only go on", [0x80, 0x80, 0x80, 0x80], 0],
])("%s", (_, bytes, unfinished) => {
  expect(unfinishedBytes(Uint8Array.from(bytes))).toBe(unfinished);
});
