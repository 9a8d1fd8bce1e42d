import { describe, expect, test } from "vitest";
import * as z from "zod";
import { limits } from "#contract/limits.ts";
import { operations } from "#contract/operations.ts";
import { parseRequest } from "#contract/parse.ts";
import { checkPathIds, mergeInput, parseBody, readBody } from "./request-input.ts";

const schema = z.strictObject({
  id: z.string().optional(),
  limit: z.int().min(1).max(10).optional(),
  all: z.boolean().optional(),
  q: z.string().optional(),
  since: z.union([z.int().min(0), z.literal("tail")]).optional(),
});
const merge = (query: string, body = {}, path = {}) =>
  mergeInput({ path, query: new URLSearchParams(query), body }, schema);

describe("a query", () => {
  test.each([
    ["limit=5", { limit: 5 }],
    ["limit=50", { limit: 50 }],
    ["all=1", { all: true }],
    ["all=false", { all: false }],
    ["all=2", { all: "2" }],
    ["q=1", { q: "1" }],
    ["q=true", { q: "true" }],
    ["since=3", { since: 3 }],
    ["since=tail", { since: "tail" }],
    ["since=1.5", { since: "1.5" }],
    ["limit=", { limit: "" }],
    ["limit=0x10", { limit: "0x10" }],
    ["limit=99999999999999999999", { limit: "99999999999999999999" }],
    ["unknown=1", { unknown: "1" }],
  ])("%s", (query, expected) => expect(merge(query)).toEqual(expected));
});

test("a field given twice is refused, wherever the two stand", () => {
  const twice = expect.objectContaining({ code: "invalid_request", message: "q: given twice" });
  expect(() => merge("q=a&q=a")).toThrow(twice);
  expect(() => merge("q=a", { q: "a" })).toThrow(twice);
  expect(() => merge("q=a", {}, { q: "a" })).toThrow(twice);
  expect(() => merge("", { q: "a" }, { q: "a" })).toThrow(twice);
});

test.each(["__proto__", "constructor", "toString"])(
  "%s is a field like any other, unknown",
  (name) => {
    const body = parseBody(Buffer.from(`{"${name}":{"isPolluted":true}}`));
    const queried = merge(`${name}=1`);
    for (const input of [
      mergeInput({ path: {}, query: new URLSearchParams(), body }, schema),
      queried,
    ]) {
      expect(Object.keys(input)).toEqual([name]);
      expect(() => parseRequest(schema, input)).toThrow(
        expect.objectContaining({ code: "invalid_request" }),
      );
    }
    expect(({} as { isPolluted?: boolean }).isPolluted).toBeUndefined();
  },
);

test("a body is one object of JSON in UTF-8, and none is an empty one", () => {
  expect(parseBody(Buffer.from(""))).toEqual({});
  expect(parseBody(Buffer.from(" \n"))).toEqual({});
  expect(parseBody(Buffer.from('{"a":1}'))).toEqual({ a: 1 });
  for (const bad of ["[]", "null", "1", '"a"', "{", '{"a":1}{}', "nonsense"])
    expect(() => parseBody(Buffer.from(bad))).toThrow(
      expect.objectContaining({ code: "invalid_request" }),
    );
  expect(() => parseBody(Buffer.from([0x7b, 0xff, 0x7d]))).toThrow("the body is not UTF-8");
});

test("an empty body is an empty object, and what is missing is named", () => {
  const parse = () => parseRequest(operations["session.create"].input, parseBody(Buffer.from("")));
  expect(parse).toThrow(/^kind: /);
});

test("a body is read up to its limit, whatever was announced", async () => {
  const send = (size: number, headers = {}) =>
    readBody(
      new Request("http://localhost", { method: "POST", body: Buffer.alloc(size), headers }),
    );
  expect((await send(limits.body_bytes)).length).toBe(limits.body_bytes);
  const tooLarge = expect.objectContaining({ code: "payload_too_large" });
  await expect(send(limits.body_bytes + 1)).rejects.toEqual(tooLarge);
  await expect(send(1, { "content-length": `${limits.body_bytes + 1}` })).rejects.toEqual(tooLarge);
});

test("an id in a path that cannot be one is not found", () => {
  expect(() =>
    checkPathIds({ session_id: "ses_0123456789abcdef", name: "anything" }),
  ).not.toThrow();
  for (const [name, code] of [
    ["session_id", "session_not_found"],
    ["task_id", "task_not_found"],
    ["workspace_id", "workspace_not_found"],
    ["shell_id", "shell_not_found"],
    ["token_id", "token_not_found"],
  ])
    expect(() => checkPathIds({ [name ?? ""]: "x" })).toThrow(expect.objectContaining({ code }));
});

test("every id in a path of the table is one that is checked", () => {
  const named = Object.values(operations).flatMap(({ http }) => http.match(/:\w+_id\b/g) ?? []);
  for (const name of new Set(named)) expect(() => checkPathIds({ [name.slice(1)]: "x" })).toThrow();
});
