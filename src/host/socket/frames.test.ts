import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeJson, encodeTail, FrameReader, type SocketFrame } from "./frames.ts";

const notice = fc.record({
  watch: fc.nat(0xffff_ffff),
  tail: fc.nat(Number.MAX_SAFE_INTEGER),
  events_tail: fc.nat(Number.MAX_SAFE_INTEGER),
});

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
  );
  fc.assert(
    fc.property(
      fc.array(frame),
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
      (frames, sizes) => {
        const bytes = Buffer.concat(
          frames.map((sent) =>
            sent.kind === "tail"
              ? encodeTail(sent.notice)
              : encodeJson(sent.kind === "json" ? sent.value : {}),
          ),
        );
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
