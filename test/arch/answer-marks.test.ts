import { expect, test } from "vitest";
import * as z from "zod";
import { answerMarks } from "#client/answer-marks.ts";
import { type OperationName, operations } from "#contract/operations.ts";

interface Described {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
}

function describe(name: OperationName): Described {
  return z.toJSONSchema(operations[name].output, { unrepresentable: "any" }) as Described;
}

test("a mark is a field that the answer always has", () => {
  for (const [name, mark] of Object.entries(answerMarks)) {
    const field = mark.replace("[]", "");
    const { required = [], properties = {} } = describe(name as OperationName);
    expect([name, required]).toEqual([name, expect.arrayContaining([field])]);
    expect([name, properties[field]?.type === "array"]).toEqual([name, mark.endsWith("[]")]);
  }
});

test("every list has a mark", () => {
  const lists = Object.keys(operations).filter((name) => name.endsWith(".list"));
  expect(lists.filter((name) => !Object.hasOwn(answerMarks, name))).toEqual([]);
});
