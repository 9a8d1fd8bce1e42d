import { describe, expect, test } from "vitest";
import { fieldsOf, firstValues, readForm } from "./flat-form.ts";

const schema = {
  type: "object",
  properties: {
    version: { type: "string", minLength: 3, maxLength: 8, pattern: "^[0-9.]+$" },
    channel: { type: "string", enum: ["stable", "beta"], title: "Channel" },
    copies: { type: "integer", minimum: 1, maximum: 9, default: 2 },
    ratio: { type: "number" },
    notify: { type: "boolean", default: true },
    first_name: { type: "string" },
  },
  required: ["version", "channel"],
};
const fields = fieldsOf(schema);
const good = { version: "1.2.3", channel: "beta" };
const errorOf = (name: string, value: string) =>
  readForm(fields, { ...good, [name]: value }).errors[name];

describe("a form of a flat schema", () => {
  test("has a field for each property, with its label and whether it is needed", () => {
    expect(fields.map(({ kind, label, isRequired }) => [kind, label, isRequired])).toEqual([
      ["text", "version", true],
      ["choice", "Channel", true],
      ["number", "copies", false],
      ["number", "ratio", false],
      ["switch", "notify", false],
      ["text", "first name", false],
    ]);
  });

  test("begins with what the schema proposes", () => {
    expect(firstValues(schema)).toMatchObject({ version: "", copies: "2", notify: "true" });
  });

  test("gives numbers and truths as such, and leaves out what was left empty", () => {
    const read = readForm(fields, { ...good, copies: "3", ratio: "0,5", notify: "" });
    expect(read).toEqual({
      content: { version: "1.2.3", channel: "beta", copies: 3, ratio: 0.5, notify: false },
      errors: {},
    });
  });

  test.each([
    ["version", "", "This is needed."],
    ["version", "   ", "This is needed."],
    ["version", "1", "Give at least 3 characters; these are 1."],
    ["version", "1.2.3.4.5", "Give at most 8 characters; these are 9."],
    ["version", "1.x", "This does not fit the pattern ^[0-9.]+$"],
    ["channel", "", "Choose one."],
    ["channel", "other", "Choose one of the answers."],
    ["copies", "0", "Give 1 or more."],
    ["copies", "10", "Give 9 or less."],
    ["copies", "1.5", "Give a whole number."],
    ["copies", "many", "This is no number."],
  ])("%s = %j is refused: %s", (name, value, words) => {
    expect(errorOf(name, value)).toBe(words);
  });

  test("names of choices are shown, their values sent", () => {
    const oneOf = [{ const: "r", title: "Red" }, { const: "g" }];
    const named = fieldsOf({
      properties: {
        colour: { oneOf },
        size: { enum: ["s", "l"], enumNames: ["Small", "Large"] },
      },
    });
    expect(named).toMatchObject([
      {
        options: [
          { value: "r", label: "Red" },
          { value: "g", label: "g" },
        ],
      },
      {
        options: [
          { value: "s", label: "Small" },
          { value: "l", label: "Large" },
        ],
      },
    ]);
    expect(readForm(named, { colour: "r", size: "l" }).content).toEqual({ colour: "r", size: "l" });
  });

  test.each([{}, { properties: null }, { properties: { a: 1 }, required: "a" }])(
    "an odd schema %j breaks nothing",
    (odd) => {
      expect(readForm(fieldsOf(odd), firstValues(odd)).errors).toEqual({});
    },
  );

  test("a pattern that cannot be read refuses nothing", () => {
    const odd = fieldsOf({ properties: { a: { type: "string", pattern: "(" } } });
    expect(readForm(odd, { a: "x" })).toEqual({ content: { a: "x" }, errors: {} });
  });
});
