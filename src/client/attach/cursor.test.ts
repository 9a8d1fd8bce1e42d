import fc from "fast-check";
import { expect, test } from "vitest";
import { Cursor } from "./cursor.ts";

const LOG = Array.from({ length: 200 }, (_, at) => at % 251);

test("whatever ranges come, each byte passes once and in order, or is in a gap", () => {
  const range = fc.record({
    offset: fc.nat({ max: 199 }),
    length: fc.nat({ max: 40 }),
    isGap: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.nat({ max: 199 }), fc.array(range, { maxLength: 40 }), (since, ranges) => {
      const cursor = new Cursor();
      cursor.begin(since);
      let next = since;
      for (const { offset, length, isGap } of ranges) {
        const bytes = Uint8Array.from(LOG.slice(offset, offset + length));
        const passed = isGap
          ? cursor.pass({ type: "gap", from: offset, to: offset + length })
          : cursor.pass({ type: "output", channel: "stdout", offset, bytes });
        for (const event of passed) {
          expect(event.type === "gap" ? event.from : event.offset).toBe(next);
          if (event.type === "output") {
            expect([...event.bytes]).toEqual(LOG.slice(next, next + event.bytes.length));
            expect(event.bytes.length).toBeGreaterThan(0);
          }
          if (event.type === "gap") expect(event.to).toBeGreaterThan(event.from);
          next = event.type === "gap" ? event.to : next + event.bytes.length;
        }
        expect(cursor.next).toBe(next);
      }
    }),
  );
});

test("the first connection says where it begins, later ones do not", () => {
  const cursor = new Cursor();
  expect(cursor.next).toBe(undefined);
  cursor.begin(7);
  cursor.begin(0);
  expect(cursor.next).toBe(7);
});

test("a screen stands for what is before it, and output for itself", () => {
  const painted = new Cursor();
  painted.begin(0);
  expect(painted.isPainted).toBe(false);
  painted.paint(100);
  expect(painted).toMatchObject({ next: 100, isPainted: true });
  const printed = new Cursor();
  printed.pass({ type: "output", channel: "stdout", offset: 3, bytes: new Uint8Array(2) });
  expect(printed).toMatchObject({ next: 5, isPainted: true });
});
