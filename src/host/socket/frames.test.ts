import fc from "fast-check";
import { expect, test } from "vitest";
import {
  encodeDone,
  encodeInput,
  encodeJson,
  encodeNumbered,
  encodeOutput,
  encodeTail,
  FrameReader,
  type SocketFrame,
} from "./frames.ts";

const notice = fc.record({
  watch: fc.nat(0xffff_ffff),
  tail: fc.nat(Number.MAX_SAFE_INTEGER),
  events_tail: fc.nat(Number.MAX_SAFE_INTEGER),
});

const id = fc.nat(0xffff_ffff);
const name = fc.string({ minLength: 1, maxLength: 200 });
const bytes = fc.uint8Array({ minLength: 1, maxLength: 100 }).map((array) => Buffer.from(array));

function encode(frame: SocketFrame): Buffer {
  switch (frame.kind) {
    case "tail":
      return encodeTail(frame.notice);
    case "output":
      return encodeOutput(frame.notice);
    case "input":
      return encodeInput(frame.input);
    case "numbered":
      return encodeNumbered(frame.input);
    case "done":
      return encodeDone(frame.id);
    default:
      return encodeJson(frame.kind === "json" ? frame.value : {});
  }
}

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

test("frames arrive as they were sent, however the stream is cut", () => {
  const frame = fc.oneof(
    fc
      .jsonValue()
      .map(
        (value): SocketFrame => ({ kind: "json", value: JSON.parse(JSON.stringify({ value })) }),
      ),
    notice.map((value): SocketFrame => ({ kind: "tail", notice: value })),
    fc.tuple(notice, fc.nat(255), bytes).map(([told, channel, printed]): SocketFrame => {
      return { kind: "output", notice: { ...told, channel, bytes: printed } };
    }),
    fc
      .record({ id, attachment: id, input_id: fc.option(name, { nil: undefined }), bytes })
      .map((input): SocketFrame => ({ kind: "input", input })),
    fc
      .record({
        ...{ id, attachment: id, number: id, eof: fc.boolean() },
        ...{ input_id: fc.option(name, { nil: undefined }), bytes },
      })
      .map((input): SocketFrame => ({ kind: "numbered", input })),
    id.map((done): SocketFrame => ({ kind: "done", id: done })),
  );
  fc.assert(
    fc.property(
      fc.array(frame),
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
      (frames, sizes) => {
        const bytes = Buffer.concat(frames.map(encode));
        const reader = new FrameReader();
        const received = cut(bytes, sizes).flatMap((chunk) => [...reader.push(chunk)]);
        expect(received).toEqual(frames);
      },
    ),
  );
});

test("random bytes give frames or one fault, never anything else", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 8 }), (chunks) => {
      const reader = new FrameReader();
      try {
        for (const chunk of chunks) for (const _ of reader.push(Buffer.from(chunk)));
      } catch (error) {
        expect(error).toMatchObject({ code: "invalid_request" });
      }
    }),
    { numRuns: 2000 },
  );
});

test("a kind that is not known is skipped", () => {
  const unknown = Buffer.from([3, 0, 0, 0, 77, 1, 2]);
  const frames = [...new FrameReader().push(Buffer.concat([unknown, encodeJson({ a: 1 })]))];
  expect(frames).toEqual([{ kind: "unknown" }, { kind: "json", value: { a: 1 } }]);
});
