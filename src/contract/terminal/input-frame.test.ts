import { expect, test } from "vitest";
import {
  decodeAttachmentInput,
  decodeInput,
  encodeAttachmentInput,
  encodeInput,
  findAttachmentName,
  ID_LONGEST_BYTES,
  nameAttachment,
} from "./input-frame.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

test("a binary input is its kind, its sequence, its id with its length, and the bytes", () => {
  const frame = encodeInput({ sequence: 0x01020304, id: "é", bytes: bytesOf("ls") });
  expect([...(frame ?? [])]).toEqual([1, 1, 2, 3, 4, 2, 0xc3, 0xa9, 0x6c, 0x73]);
});

test("what was encoded is decoded, also from the middle of a buffer and without an id or bytes", () => {
  for (const [id, text] of [
    ["key", "x"],
    ["", "x"],
    ["key", ""],
  ] as const) {
    const input = { sequence: 4_294_967_295, id, bytes: bytesOf(text) };
    const frame = encodeInput(input) ?? new Uint8Array();
    const inside = new Uint8Array([9, 9, ...frame]).subarray(2);
    expect(decodeInput(inside)).toEqual(input);
  }
});

test("an id longer than one byte can count has no binary frame", () => {
  const input = { sequence: 1, id: "é".repeat(127), bytes: bytesOf("x") };
  expect(encodeInput(input)).toHaveLength(6 + 254 + 1);
  expect(encodeInput({ ...input, id: "a".repeat(ID_LONGEST_BYTES + 1) })).toBeUndefined();
});

test("another kind, a frame that is cut off and an id that is not UTF-8 are not inputs", () => {
  expect(decodeInput(new Uint8Array())).toBeUndefined();
  expect(decodeInput(new Uint8Array([2, 0, 0, 0, 1, 0, 65]))).toBeUndefined();
  expect(decodeInput(new Uint8Array([1, 0, 0, 0, 1, 3, 65, 65]))).toBeUndefined();
  expect(decodeInput(new Uint8Array([1, 0, 0, 0, 1, 1, 0xff, 65]))).toBeUndefined();
});

test("an input of an attachment is its kind, its sequence, its id with its length in two bytes, and the bytes", () => {
  const input = { sequence: 0x01020304, id: "é", bytes: bytesOf("ls"), eof: false };
  const frame = encodeAttachmentInput(input);
  expect([...frame]).toEqual([1, 1, 2, 3, 4, 0, 2, 0xc3, 0xa9, 0x6c, 0x73]);
  expect(decodeAttachmentInput(new Uint8Array([9, ...frame]).subarray(1))).toEqual(input);
  const end = { sequence: 1, id: "", bytes: new Uint8Array(), eof: true };
  expect([...encodeAttachmentInput(end)]).toEqual([2, 0, 0, 0, 1, 0, 0]);
  expect(decodeAttachmentInput(encodeAttachmentInput(end))).toEqual(end);
  for (const wrong of [
    [],
    [1, 0, 0, 0, 1],
    [3, 0, 0, 0, 1, 0, 0],
    [1, 0, 0, 0, 0, 0, 0],
    [1, 0, 0, 0, 1, 0, 1],
  ])
    expect(decodeAttachmentInput(Uint8Array.from(wrong))).toBeUndefined();
});

test("the name of an attachment is a sub-protocol; another word is not a name", () => {
  expect(nameAttachment("a-1")).toBe("reins.attachment.a-1");
  expect(findAttachmentName(["reins.bin.v3", "reins.attachment.a-1"])).toBe("a-1");
  for (const offered of [[], ["reins.attachment."], ["reins.attachment.a b"], ["x"]])
    expect(findAttachmentName(offered)).toBeUndefined();
});
