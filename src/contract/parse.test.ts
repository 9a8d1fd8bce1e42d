import fc from "fast-check";
import { expect, test } from "vitest";
import { asFault, Fault, fromFaultBody, toFaultBody } from "./fault.ts";
import { ClientFrame, ServerFrame } from "./frames.ts";
import { SessionId, TaskId, WorkspaceId } from "./ids.ts";
import { SessionCreate } from "./operations/session.ts";
import { operations } from "./operations.ts";
import { parseRequest } from "./parse.ts";
import { Environment } from "./session.ts";
import { findSignal } from "./signals.ts";
import { ToolEnvironment } from "./tools/process.ts";

test("the fault names the field that is wrong", () => {
  const create = (request: unknown) => () => parseRequest(SessionCreate, request);
  const naming = (text: string) =>
    expect.objectContaining({ code: "invalid_request", message: expect.stringContaining(text) });
  expect(create({ kind: "terminal", cols: 0 })).toThrow(naming("cols"));
  expect(create({ kind: "terminal", unknown: 1 })).toThrow(naming("unknown"));
  expect(create({ kind: "command" })).toThrow(naming("command"));
  expect(create({ kind: "command", command: "a", argv: ["a"] })).toThrow(naming("argv"));
  expect(create({ kind: "terminal", work_dir: "a\0b" })).toThrow(naming("work_dir"));
  expect(create("text")).toThrow(naming(""));
  expect(create({ kind: "terminal" })()).toEqual({ kind: "terminal" });
});

test.each([
  ["session.create", { kind: "command", command: "a" }],
  ["shell.create", {}],
  ["process.execute", { command: "a", workdir: "/" }],
] as const)("%s names a variable that it cannot carry", (name, request) => {
  const { input } = operations[name];
  const parse = (env: string) => () => parseRequest(input, { ...request, env: JSON.parse(env) });
  const refused = { code: "invalid_request", message: expect.stringContaining("env.__proto__: ") };
  expect(parse('{"A":"b","__proto__":"x"}')).toThrow(expect.objectContaining(refused));
  expect(parse('{"A":"b","constructor":"x"}')()).toMatchObject({
    env: { A: "b", constructor: "x" },
  });
});

test.each([
  [SessionId, "ses_0123456789abcdef"],
  [TaskId, "tsk_0123456789abcdef"],
  [WorkspaceId, "wsp_0123456789abcdef"],
  [WorkspaceId, "wsp_local"],
] as const)("ids are exactly their pattern", (schema, good) => {
  expect(schema.safeParse(good).success).toBe(true);
  for (const bad of [
    `${good}0`,
    good.toUpperCase(),
    ` ${good}`,
    `${good}\n`,
    "",
    "ses_",
    `x${good}`,
  ]) {
    expect(schema.safeParse(bad).success).toBe(false);
  }
});

test.each([
  ["SIGINT", "SIGINT"],
  ["int", "SIGINT"],
  [" Term ", "SIGTERM"],
  ["SIGSEGV", undefined],
  ["", undefined],
  ["9", undefined],
  ["constructor", undefined],
])("%j is the signal %s", (name, signal) => {
  expect(findSignal(name)).toBe(signal);
});

test("anything parsed as a frame or a request either fits or is refused, without a crash", () => {
  const schemas = [
    ClientFrame,
    ServerFrame,
    ...Object.values(operations).map(({ input }) => input),
  ];
  fc.assert(
    fc.property(fc.anything(), (value) => {
      for (const schema of schemas) {
        try {
          parseRequest(schema, value);
        } catch (error) {
          expect(error).toMatchObject({ code: "invalid_request" });
        }
      }
    }),
    { numRuns: 500 },
  );
});

test("a fault crosses a wire and stays what it was", () => {
  const fault = new Fault("too_many", "no more", { details: { limit: 3 } });
  const back = fromFaultBody(JSON.parse(JSON.stringify(toFaultBody(fault))));
  expect(back).toMatchObject({ code: "too_many", message: "no more", details: { limit: 3 } });
  expect(fromFaultBody({ code: "from_the_future", message: "?" })).toMatchObject({
    code: "internal",
    details: { code: "from_the_future" },
  });
  expect(asFault(fault)).toBe(fault);
  expect(asFault(new TypeError("bug"))).toMatchObject({ code: "internal", message: "bug" });
});

test.each(["A\nB", "A\u0000", "A\u001b[0m", "A\u0085"])(
  "a variable whose name has a control character is refused: %j",
  (name) => {
    for (const schema of [Environment, ToolEnvironment])
      expect(schema.safeParse({ [name]: "1", PLAIN: "2" }).success).toBe(false);
    expect(Environment.safeParse({ PLAIN: "two\nlines" }).success).toBe(true);
  },
);
