import fc from "fast-check";
import { expect, test } from "vitest";
import { CastParser } from "./cast.ts";

const HEADER = '{"version":2,"width":80,"height":24,"timestamp":1700000000}\n';

test("a recording is a header and its events, however it is cut", () => {
  const text = `${HEADER}[0.5,"o","a\\u001b[0m\\n"]\n[1,"r","100x40"]\n[2,"m","5 bytes are no longer kept"]\n`;
  fc.assert(
    fc.property(fc.array(fc.nat({ max: text.length })), (cuts) => {
      const parser = new CastParser();
      const places = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      for (const [at, to] of places.slice(1).entries()) parser.push(text.slice(places[at], to));
      parser.end();
      expect(parser.header).toEqual({ cols: 80, rows: 24, timestamp: 1_700_000_000 });
      expect(parser.events).toEqual([
        { at: 0.5, kind: "output", text: "a\x1b[0m\n" },
        { at: 1, kind: "size", cols: 100, rows: 40 },
        { at: 2, kind: "remark", text: "5 bytes are no longer kept" },
      ]);
      expect(parser.skipped).toBe(0);
    }),
  );
});

test("a last line without its end is an event as well", () => {
  const parser = new CastParser();
  parser.push(`${HEADER}[1,"o","x"]`);
  expect(parser.events).toEqual([]);
  parser.end();
  expect(parser.events).toHaveLength(1);
});

test.each([
  "no json",
  "{}",
  '["1","o","x"]',
  '[1,"o",5]',
  '[1,"r","0x24"]',
  '[1,"r","80x9999"]',
  '[1,"r","wide"]',
  '[1,"i","typed"]',
  "[1]",
])("a line such as %s is skipped and said", (line) => {
  const parser = new CastParser();
  parser.push(`${HEADER}${line}\n[2,"o","after"]\n`);
  expect(parser).toMatchObject({ skipped: 1, events: [{ text: "after" }] });
});

test("what has no header of this kind has no events", () => {
  const parser = new CastParser();
  parser.push('{"version":3,"width":80,"height":24}\n[1,"o","x"]\n');
  expect(parser).toMatchObject({ header: undefined, events: [], skipped: 2 });
});

test("times never go back", () => {
  const parser = new CastParser();
  parser.push(`${HEADER}[5,"o","a"]\n[3,"o","b"]\n[6,"o","c"]\n`);
  expect(parser.events.map(({ at }) => at)).toEqual([5, 5, 6]);
});
