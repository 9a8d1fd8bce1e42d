import fc from "fast-check";
import { expect, test } from "vitest";
import {
  encodeHeader,
  encodeRecord,
  HEADER_BYTES,
  parseHeader,
  parseRecord,
  RECORD_BYTES,
} from "./index-format.ts";

const header = { segmentBytes: 4 * 1024 * 1024, start: 2 ** 40, epoch: 1_767_225_600_000 };

test("a header and a record are these bytes, which files on disk depend on", () => {
  const record = Buffer.alloc(RECORD_BYTES);
  encodeRecord(record, {
    offset: 2 ** 33 + 5,
    time: 2 ** 40 + 7,
    channel: 2,
    mark: 2,
    a: 80,
    b: 24,
  });
  expect(encodeHeader(header).toString("hex")).toBe(
    "5245494e534944580100180000004000000000000001000000a8da769b01000000000000000000000000000000000000",
  );
  expect(record.toString("hex")).toBe("050000000200000007000000000102025000180018904ce2");
});

test("a header reads back as it was written", () => {
  expect(parseHeader(encodeHeader(header), "x.idx")).toEqual(header);
});

test("a record reads back as it was written, at any place in a block", () => {
  const byte = fc.integer({ min: 0, max: 255 });
  const word = fc.integer({ min: 0, max: 65_535 });
  const record = fc.record({
    offset: fc.maxSafeNat(),
    time: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
    channel: byte,
    mark: byte,
    a: word,
    b: word,
  });
  fc.assert(
    fc.property(record, fc.nat(100), (given, at) => {
      const bytes = Buffer.alloc(at + RECORD_BYTES, 0xff);
      encodeRecord(bytes.subarray(at), given);
      expect(parseRecord(bytes, at)).toEqual(given);
    }),
  );
});

test("a record with any byte changed is no record", () => {
  const place = fc.integer({ min: 0, max: RECORD_BYTES - 1 });
  fc.assert(
    fc.property(fc.maxSafeNat(), place, fc.integer({ min: 1, max: 255 }), (offset, at, change) => {
      const bytes = Buffer.alloc(RECORD_BYTES);
      encodeRecord(bytes, { offset, time: 9, channel: 1, mark: 0, a: 0, b: 0 });
      bytes.writeUInt8(bytes.readUInt8(at) ^ change, at);
      expect(parseRecord(bytes, 0)).toBeUndefined();
    }),
  );
});

test("a hole in the file is neither a header nor a record", () => {
  expect(parseHeader(Buffer.alloc(HEADER_BYTES), "x.idx")).toBeUndefined();
  expect(parseRecord(Buffer.alloc(RECORD_BYTES), 0)).toBeUndefined();
});

test("a header of which the end is missing is torn", () => {
  for (let length = 0; length < HEADER_BYTES; length += 1) {
    expect(parseHeader(encodeHeader(header).subarray(0, length), "x.idx")).toBeUndefined();
  }
});

test("refuses a newer version, another record size and a foreign file, and says which file", () => {
  const changed = (at: number, value: number) => {
    const bytes = encodeHeader(header);
    bytes.writeUInt8(value, at);
    return () => parseHeader(bytes, "some/x.idx");
  };
  expect(changed(8, 2)).toThrow(expect.objectContaining({ code: "unsupported" }));
  expect(changed(8, 2)).toThrow(/some\/x\.idx has format 2/);
  expect(changed(10, 32)).toThrow(expect.objectContaining({ code: "unsupported" }));
  expect(changed(0, 0x41)).toThrow(expect.objectContaining({ code: "log_damaged" }));
  expect(changed(16, 1)).toThrow(expect.objectContaining({ code: "log_damaged" }));
});
