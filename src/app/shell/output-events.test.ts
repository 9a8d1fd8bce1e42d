import fc from "fast-check";
import { expect, test } from "vitest";
import { channels } from "#contract/channels.ts";
import { endOf, type LogChunk } from "#log/log-source.ts";
import { OutputEvents } from "./output-events.ts";

const { stdout, stderr } = channels;

function chunk(offset: number, channel: number, bytes: Uint8Array): LogChunk {
  return { kind: "bytes", offset, channel, at_ms: 0, bytes };
}

function eventsOf(chunks: readonly LogChunk[]) {
  const events = new OutputEvents();
  return [...chunks.flatMap((each) => [...events.push(each)]), ...events.end()];
}

const euro = Buffer.from("€");

test("a character that comes in parts is one event", () => {
  const parts = [...euro].map((byte, index) => chunk(index, stdout, Buffer.of(byte)));
  expect(eventsOf(parts)).toEqual([
    { id: 3, data: { type: "stdout", offset: 0, data: "€", encoding: "utf8" } },
  ]);
});

test("a part of a character that others interrupt goes out before them, as bytes", () => {
  const found = eventsOf([
    chunk(0, stdout, euro.subarray(0, 2)),
    chunk(2, stderr, Buffer.from("e")),
    { kind: "gap", from: 3, to: 9 },
    chunk(9, stdout, euro.subarray(2)),
  ]);
  expect(found).toEqual([
    { id: 2, data: { type: "stdout", offset: 0, data: "4oI=", encoding: "base64" } },
    { id: 3, data: { type: "stderr", offset: 2, data: "e", encoding: "utf8" } },
    { id: 9, data: { type: "gap", from: 3, to: 9 } },
    { id: 10, data: { type: "stdout", offset: 9, data: "rA==", encoding: "base64" } },
  ]);
});

test("what is never finished comes at the end", () => {
  expect(eventsOf([chunk(0, stdout, Buffer.from([0x61, 0xf0, 0x9f]))])).toEqual([
    { id: 1, data: { type: "stdout", offset: 0, data: "a", encoding: "utf8" } },
    { id: 3, data: { type: "stdout", offset: 1, data: "8J8=", encoding: "base64" } },
  ]);
});

test("events hold every byte once, in order, and text never splits a character", () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 8, minLength: 1 }),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }).map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(piece, fc.constantFrom(stdout, stderr), fc.nat(3))), (pieces) => {
      const chunks: LogChunk[] = [];
      let offset = 0;
      for (const [bytes, channel, cut] of pieces) {
        for (const part of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
          if (part.length > 0) chunks.push(chunk(offset, channel, part));
          offset += part.length;
        }
      }
      let next = 0;
      const joined: Buffer[] = [];
      for (const { id, data } of eventsOf(chunks)) {
        if (data.type !== "stdout" && data.type !== "stderr") throw new Error(data.type);
        const bytes = Buffer.from(data.data, data.encoding);
        expect(data.offset).toBe(next);
        next += bytes.length;
        expect(id).toBe(next);
        joined.push(bytes);
      }
      expect(next).toBe(chunks.length === 0 ? 0 : endOf(chunks.at(-1) ?? chunk(0, 1, euro)));
      const given = chunks.map((each) => (each.kind === "bytes" ? each.bytes : euro));
      expect(Buffer.concat(joined).equals(Buffer.concat(given))).toBe(true);
    }),
  );
});
