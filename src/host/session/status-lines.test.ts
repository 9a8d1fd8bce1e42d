import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { openRandom } from "#test/harness/random.ts";
import { StatusLines } from "./status-lines.ts";

const lines = [
  '{"type":"turn.started","turn_id":"t"}',
  '{"type":"reasoning.delta","text":"skipped"}',
  '{"at":"x","type":"approval.requested","approval_id":"a"}',
  "",
  "not json",
  "[1,2]",
  "null",
  '{"type":"constructor"}',
  '{"type":"message.end","text":"zwei \u20ac, \\"drei\\"\\n"}',
  '{"type":"tool.output","text":"skipped"}',
  '{"type":"turn.ended"',
  '{"type":"turn.ended","reason":"done"}',
];

function typesIn(pieces: readonly Buffer[]): unknown[] {
  const found: unknown[] = [];
  const reader = new StatusLines();
  for (const piece of pieces) reader.push(piece, ({ type, text }) => found.push(text ?? type));
  return found;
}

test("lines that say something about the status are found, however the bytes are cut", () => {
  const bytes = Buffer.from(`${lines.join("\n")}\nhalf`);
  const whole = typesIn([bytes]);
  expect(whole).toEqual(["turn.started", "approval.requested", 'zwei €, "drei"\n', "turn.ended"]);
  const random = openRandom(11);
  for (let round = 0; round < 200; round += 1) {
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = at + 1 + random.below(40);
      pieces.push(bytes.subarray(at, end));
      at = end;
    }
    expect(typesIn(pieces)).toEqual(whole);
  }
});

test("a buffer that its reader uses again does not change a line whose end comes later", () => {
  const reader = new StatusLines();
  const buffer = Buffer.from('{"type":"turn.st');
  const found: unknown[] = [];
  reader.push(buffer, () => undefined);
  expect(reader.partialBytes).toBe(buffer.length);
  buffer.fill("x");
  reader.push(Buffer.from('arted"}\n'), ({ type }) => found.push(type));
  expect([found, reader.partialBytes]).toEqual([["turn.started"], 0]);
});

test("a line longer than any worker may write is not kept", () => {
  const reader = new StatusLines();
  const found: unknown[] = [];
  const apply = ({ type }: Readonly<Record<string, unknown>>) => found.push(type);
  reader.push(Buffer.from('{"type":"turn.started","x":"'), apply);
  for (let bytes = 0; bytes <= limits.event_line_bytes; bytes += 1 << 16)
    reader.push(Buffer.alloc(1 << 16, "x"), apply);
  reader.push(Buffer.from('"}\n{"type":"turn.ended"}\n'), apply);
  expect(found).toEqual(["turn.ended"]);
});
