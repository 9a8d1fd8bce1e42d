import { expect, test } from "vitest";
import { listFields, parseField } from "./form.ts";

const schema = {
  type: "object",
  properties: {
    colour: { type: "string", title: "Colour", enum: ["red", "7"] },
    count: { type: "integer", description: "How many" },
    level: { type: "integer", enum: [10, 1, 20] },
    size: { type: "number" },
    sure: { type: "boolean" },
    note: { type: "string" },
  },
  required: ["colour"],
};

test("the fields of a form come in their order, with what they are called", () => {
  expect(
    listFields(schema).map(({ name, label, isRequired }) => [name, label, isRequired]),
  ).toEqual([
    ["colour", "Colour", true],
    ["count", "How many", false],
    ["level", "level", false],
    ["size", "size", false],
    ["sure", "sure", false],
    ["note", "note", false],
  ]);
  expect(listFields({ properties: 1 })).toEqual([]);
});

test("a line is a value of the field's type, or none", () => {
  const fields = new Map(listFields(schema).map((field) => [field.name, field]));
  const table: [field: string, line: string, value: unknown][] = [
    ["colour", "red", "red"],
    ["colour", " 1 ", "red"],
    ["colour", "2", "7"],
    ["colour", "7", "7"],
    ["colour", "3", undefined],
    ["colour", "0", undefined],
    ["colour", "blue", undefined],
    ["count", "3", 3],
    ["count", "3.5", undefined],
    ["count", "many", undefined],
    ["level", "20", 20],
    ["level", "1", 1],
    ["level", "3", 20],
    ["level", "4", undefined],
    ["size", "3.5", 3.5],
    ["size", "Infinity", undefined],
    ["sure", "Y", true],
    ["sure", "no", false],
    ["sure", "perhaps", undefined],
    ["note", " as it is ", " as it is "],
    ["note", "  ", undefined],
  ];
  for (const [name, line, value] of table) {
    const field = fields.get(name);
    expect([name, line, field && parseField(field, line)]).toEqual([name, line, value]);
  }
});
