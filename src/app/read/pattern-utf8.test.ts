import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesOfUnits, characterLength, characterStart, unfinishedLength } from "./pattern-utf8.ts";

const decode = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/** Whole characters, halves of them and bytes that are none. */
const bytes = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme" }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 4 }).map((some) => Buffer.from(some)),
      fc
        .constantFrom("ü", "€", "😀", "\ufeff", "\u0800", "\ud7ff", "\u{10ffff}")
        .chain((text) => fc.nat(4).map((cut) => Buffer.from(text).subarray(0, cut))),
      fc.constantFrom([0xe0, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x80], [0xf4, 0x90], [0xc0, 0x80]),
    ),
  )
  .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part))));

test("characters are cut where the decoder cuts them", () => {
  fc.assert(
    fc.property(bytes, (some) => {
      let text = "";
      for (let at = 0; at < some.length; ) {
        const length = characterLength(some, at);
        const piece = decode(some.subarray(at, at + length));
        expect(piece.length).toBe(length === 4 ? 2 : 1);
        text += piece;
        at += length;
      }
      expect(text).toBe(decode(some));
    }),
  );
});

test("text that is cut at the start of a character decodes to the same", () => {
  fc.assert(
    fc.property(bytes, fc.nat(), (some, place) => {
      const at = characterStart(some, place % (some.length + 1));
      expect(decode(some.subarray(0, at)) + decode(some.subarray(at))).toBe(decode(some));
    }),
  );
});

test("what is held back of an unfinished character is exactly what a decoder holds back", () => {
  fc.assert(
    fc.property(bytes, (some) => {
      const open = unfinishedLength(some, some.length);
      const streamed = new TextDecoder("utf-8", { ignoreBOM: true }).decode(some, { stream: true });
      expect(decode(some.subarray(0, some.length - open))).toBe(streamed);
    }),
  );
});

test("units are counted in bytes, and a pair of them is one character", () => {
  const some = Buffer.from("aü€😀b");
  expect([0, 1, 2, 3, 4, 5, 6].map((units) => bytesOfUnits(some, 0, units))).toEqual([
    0, 1, 3, 6, 10, 10, 11,
  ]);
});
