import { expect, test } from "vitest";
import { fillForm, fillOnlyField, parseAnswer } from "./answer-plan.ts";
import { listFields } from "./form.ts";

test.each([
  ["approve", "approve"],
  ["approve-tool", "approve_tool"],
  ["approve-session", "approve_session"],
  ["reject", "reject"],
])("%s is a decision", (word, decision) => {
  expect(parseAnswer([word], {})).toEqual({ kind: "decide", decision, reason: undefined });
});

test("a reason is trimmed, a blank one is none", () => {
  expect(parseAnswer(["reject"], { reason: " No. " })).toMatchObject({ reason: "No." });
  expect(parseAnswer(["reject"], { reason: " \n" })).toMatchObject({ reason: undefined });
});

test("fields are split at the first =, and nothing at all shows what is asked", () => {
  const fields = new Map([
    ["a", "b=c"],
    ["d", ""],
  ]);
  expect(parseAnswer(["a=b=c", "d="], {})).toEqual({ kind: "fill", fields });
  expect(parseAnswer([], {})).toEqual({ kind: "show" });
  expect(parseAnswer([], { decline: true })).toEqual({ kind: "decline" });
});

test.each([
  [["toString", "b"], {}, "neither approve"],
  [["=x"], {}, "neither approve"],
  [["a=1", "a=2"], {}, "twice"],
  [["approve", "reject"], {}, "behind approve"],
  [["a=1"], { reason: "x" }, "--reason is for reject"],
  [["approve"], { reason: "x" }, "--reason is for reject"],
  [["approve"], { decline: true }, "--decline answers alone"],
])("%j with %j is refused", (words, options, sentence) => {
  expect(() => parseAnswer(words, options)).toThrow(sentence);
});

const form = listFields({
  properties: {
    name: { type: "string" },
    age: { type: "integer" },
    sure: { type: "boolean" },
    colour: { enum: ["red", "blue"] },
  },
  required: ["name"],
});

test("a form is filled in by the types of its fields", () => {
  const words = new Map([
    ["name", "7"],
    ["age", "7"],
    ["sure", "no"],
    ["colour", "2"],
  ]);
  expect(fillForm(form, words)).toEqual({ name: "7", age: 7, sure: false, colour: "blue" });
  expect(fillForm(form, new Map([["name", "Ann"]]))).toEqual({ name: "Ann" });
});

test.each([
  [[["name", ""]], '"name" has to be filled in'],
  [[], '"name" has to be filled in'],
  [[["nome", "x"]], "it asks for name, age, sure, colour"],
  [
    [
      ["name", "x"],
      ["age", "1.5"],
    ],
    'age: "1.5" is not a value of type integer',
  ],
  [
    [
      ["name", "x"],
      ["colour", "green"],
    ],
    'colour: "green" is not one of red, blue',
  ],
] as [[string, string][], string][])("%j is refused", (words, sentence) => {
  expect(() => fillForm(form, new Map(words))).toThrow(sentence);
});

test("a bare value answers a question with one field", () => {
  expect(parseAnswer(["green"], {})).toEqual({ kind: "value", value: "green" });
  const choice = { type: "string", enum: ["red", "green"] };
  const one = listFields({ type: "object", properties: { choice }, required: ["choice"] });
  expect(fillOnlyField(one, "green")).toEqual({ choice: "green" });
  expect(() => fillOnlyField(one, "blue")).toThrow("one of red, green");
  const two = listFields({ type: "object", properties: { choice, size: { type: "string" } } });
  expect(() => fillOnlyField(two, "green")).toThrow("choice=VALUE size=VALUE");
});
