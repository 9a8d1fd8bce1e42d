import { expect, test } from "vitest";
import { asFault, Fault, isUnexpected } from "./fault.ts";

function systemError(code: string, message: string = code): Error {
  return Object.assign(new Error(message), { code });
}

test.each([
  ["EMFILE", "overloaded"],
  ["ENFILE", "overloaded"],
  ["ENOSPC", "disk_full"],
  ["EDQUOT", "disk_full"],
])("what the system calls %s is %s, in a sentence that names no path", (errno, code) => {
  const error = systemError(errno, `${errno}: open '/home/somebody/x'`);
  const fault = asFault(error);
  expect(fault).toMatchObject({ code, details: { errno }, cause: error });
  expect(fault.message).not.toContain("/");
});

test("a thread that could not be started for want of descriptors is the same lack", () => {
  const error = systemError("ERR_WORKER_INIT_FAILED", "Worker initialization failure: EMFILE");
  expect(asFault(error)).toMatchObject({ code: "overloaded", details: { errno: "EMFILE" } });
});

test("what names no lack stays a bug, and a fault what it is", () => {
  for (const error of [systemError("EIO"), systemError("toString"), new Error("EMFILE"), "EMFILE"])
    expect(asFault(error).code).toBe("internal");
  const fault = new Fault("busy", "somebody else is at it");
  expect(asFault(fault)).toBe(fault);
});

test("a lack belongs into the log like a bug, what was refused does not", () => {
  expect(isUnexpected(systemError("EMFILE"))).toBe(true);
  expect(isUnexpected(new Fault("internal", "x"))).toBe(true);
  expect(isUnexpected(new Fault("overloaded", "x"))).toBe(false);
});
