import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { openLogFiles } from "#log/log-files.ts";
import { openLogWriter } from "#log/log-writer.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { type ModelRange, type ModelView, viewForModel } from "./model-view.ts";

/** Bytes of a channel, or how many were lost. */
type Written = { readonly channel: number; readonly bytes: Uint8Array } | number;

function viewOf(written: readonly Written[], range: ModelRange): ModelView {
  using dir = openTempDir();
  const path = join(dir.path, "log");
  using writer = openLogWriter({ dir: path, clock: new ManualClock(), segmentBytes: 3000 });
  for (const piece of written) {
    if (typeof piece === "number") writer.skip(piece);
    else writer.append(piece.channel, piece.bytes);
  }
  writer.settle();
  using source = openLogFiles(path);
  return viewForModel(source, { ...range, to: Math.min(range.to, source.tail()) });
}

const END = Number.MAX_SAFE_INTEGER;
const budget = fc.integer({ min: 1024, max: 4096 });
const bytesOf = (text: string) => Buffer.from(text);
const repeated = (unit: fc.Arbitrary<Uint8Array>) =>
  fc.tuple(unit, fc.integer({ min: 1, max: 300 })).map(([bytes, count]) => {
    return Buffer.concat(new Array<Uint8Array>(count).fill(bytes));
  });

const sequence = fc.constantFrom(
  ...["\x1b[31m", "\x1b[0m", "\x1b[2K\r", "\x1b]0;a title\x07", "\x1b]8;;url\x1b\\", "\x1b(B"],
  ...["\x1bPq#0\x1b\\", "\x1b[38;5;", "\x1b]", "\x1b", "\x9b1m", "\x9d0;t\x9c", "\r", "\b", "\x07"],
);
const line = fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => `${text}\n`);
const text = fc.oneof(line, fc.string({ maxLength: 20 }), sequence);
const piece = fc.oneof(
  { weight: 6, arbitrary: repeated(text.map(bytesOf)) },
  { weight: 1, arbitrary: repeated(fc.uint8Array({ minLength: 1, maxLength: 8 })) },
);
const output = fc
  .array(piece, { minLength: 1, maxLength: 12 })
  .map((pieces) => Buffer.concat(pieces))
  .filter((all) => all.length > 0);
/** Lines before, so that what follows is not all taken for binary. */
const start = fc.constantFrom("", "a line\n".repeat(60), "ä".repeat(900));

const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

function expectSound(view: ModelView, range: ModelRange & { readonly size: number }): void {
  expect(Buffer.byteLength(view.text)).toBeLessThanOrEqual(range.budget ?? 0);
  expect(view.text.isWellFormed()).toBe(true);
  expect(view.text).not.toMatch(controls);
  expect(view.next).toBe(Math.max(range.from, Math.min(range.to, range.size)));
  if (view.truncated === undefined) return;
  const { original_bytes, retained_bytes, omitted_bytes, spool_offset } = view.truncated;
  expect(original_bytes).toBe(view.next - range.from);
  expect(retained_bytes + omitted_bytes).toBe(original_bytes);
  expect([retained_bytes >= 0, omitted_bytes > 0]).toEqual([true, true]);
  expect(spool_offset).toBeGreaterThanOrEqual(range.from);
  expect(spool_offset + omitted_bytes).toBeLessThanOrEqual(view.next);
}

test("any output is shown in its budget as clean text, and every byte is accounted for", () => {
  fc.assert(
    fc.property(start, output, fc.tuple(budget, fc.nat(), fc.nat()), (before, rest, numbers) => {
      const all = Buffer.concat([bytesOf(before), rest]);
      const [room, a, b] = numbers;
      const range = { from: a % all.length, to: all.length - (b % 5 === 0 ? b % all.length : 0) };
      const view = viewOf([{ channel: 1, bytes: all }], { ...range, budget: room });
      expectSound(view, { ...range, budget: room, size: all.length });
      expect(view.lost_bytes).toBe(0);
    }),
    { numRuns: 150 },
  );
});

test("the last line is there whatever came before it", () => {
  const last = fc.stringMatching(/^[a-z€😀 ]{1,60}$/u);
  const end = fc.constantFrom("", "\n", "\r\n");
  fc.assert(
    fc.property(start, output, fc.tuple(last, end, budget), (before, rest, [said, feed, room]) => {
      const all = Buffer.concat([bytesOf(before), rest, bytesOf(`\n${said}${feed}`)]);
      const view = viewOf([{ channel: 1, bytes: all }], { from: 0, to: END, budget: room });
      const isShown = view.text.endsWith(`\n${said}${feed === "" ? "" : "\n"}`);
      expect(isShown || view.isBinary).toBe(true);
    }),
    { numRuns: 150 },
  );
});

test("of plain text the head and the tail are what the log holds", () => {
  const plain = fc
    .array(repeated(fc.string({ unit: "grapheme", minLength: 1 }).map(bytesOf)), { minLength: 1 })
    .map((parts) =>
      bytesOf(
        Buffer.concat(parts)
          .toString()
          .replaceAll(/[\p{Cc}]/gu, "\n"),
      ),
    );
  fc.assert(
    fc.property(plain, budget, (all, room) => {
      const view = viewOf([{ channel: 1, bytes: all }], { from: 0, to: END, budget: room });
      if (view.truncated === undefined) {
        expect([view.text, all.length <= room]).toEqual([all.toString(), true]);
        return;
      }
      const { omitted_bytes, spool_offset } = view.truncated;
      const head = all.subarray(0, spool_offset).toString();
      const feed = head === "" || head.endsWith("\n") ? "" : "\n";
      const tail = all.subarray(spool_offset + omitted_bytes).toString();
      const marker = `[... ${omitted_bytes} bytes omitted; read them from offset ${spool_offset} ...]`;
      expect(view.text).toBe(`${head}${feed}${marker}\n${tail}`);
      expect(view.truncated.retained_bytes).toBeGreaterThan(room / 3);
    }),
    { numRuns: 100 },
  );
});

test("how the output was written, and to which channel, changes nothing", () => {
  const cuts = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 2 })), { maxLength: 30 });
  fc.assert(
    fc.property(output, cuts, budget, (all, given, room) => {
      const range = { from: 0, to: END, budget: room };
      const places = given.map(([at, channel]) => ({ at: at % all.length, channel }));
      places.sort((a, b) => a.at - b.at);
      const written = [{ at: 0, channel: 2 }, ...places].map(({ at, channel }, index) => ({
        channel,
        bytes: all.subarray(at, places[index]?.at ?? all.length),
      }));
      expect(viewOf(written, range)).toEqual(viewOf([{ channel: 1, bytes: all }], range));
    }),
    { numRuns: 60 },
  );
});

test("what is lost anywhere is omitted and counted", () => {
  const lost = fc.tuple(fc.nat(2000), fc.integer({ min: 1, max: 2000 }), fc.nat(2000));
  fc.assert(
    fc.property(fc.array(lost, { minLength: 1, maxLength: 3 }), budget, (parts, room) => {
      const written = parts.flatMap(([before, gap, behind]) => [
        { channel: 1, bytes: Buffer.alloc(before, "some words\n") },
        gap,
        { channel: 1, bytes: Buffer.alloc(behind, "more\n") },
      ]);
      const size = parts.flat().reduce((sum, count) => sum + count, 0);
      const range = { from: 0, to: END, budget: room };
      const view = viewOf(written, range);
      expectSound(view, { ...range, size });
      const gaps = parts.reduce((sum, [, gap]) => sum + gap, 0);
      expect(view.lost_bytes).toBeGreaterThan(0);
      expect(view.lost_bytes).toBeLessThanOrEqual(gaps);
      if (size <= room) expect(view.lost_bytes).toBe(gaps);
      expect(view.truncated?.omitted_bytes).toBeGreaterThanOrEqual(view.lost_bytes);
      expect(view.text).toMatch(/ lost/);
    }),
    { numRuns: 80 },
  );
});
