import { expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { describeFault, sayFault } from "./fault-response.ts";

test("a fault has its status, its code, its words and the request's id", () => {
  const fault = new Fault("offset_out_of_range", "too far", { details: { tail: 3 } });
  const { status, headers, body } = describeFault(fault, "req_1");
  expect(status).toBe(416);
  expect(JSON.parse(body)).toEqual({
    error: {
      code: "offset_out_of_range",
      message: "too far",
      details: { tail: 3 },
      request_id: "req_1",
    },
  });
  expect(headers).toEqual({
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "X-Request-Id": "req_1",
  });
});

test("who may try again hears when", () => {
  const headersOf = (code: "too_many" | "busy", details = {}) =>
    describeFault(new Fault(code, "", { details }), "r").headers;
  expect(headersOf("busy")).toMatchObject({ "Retry-After": "1" });
  expect(headersOf("too_many", { retry_after_s: 42 })).toMatchObject({ "Retry-After": "42" });
  expect(describeFault(new Fault("unauthenticated", ""), "r").headers).toMatchObject({
    "WWW-Authenticate": "Bearer",
  });
});

test("the words of a bug are told to nobody", () => {
  const bugs = [
    new TypeError("secret.path is undefined"),
    "secret",
    new Fault("internal", "secret", { details: { secret: 1 } }),
  ];
  for (const bug of bugs) {
    const { status, body } = describeFault(bug, "r");
    expect(status).toBe(500);
    expect(body).not.toContain("secret");
    expect(sayFault(bug).code).toBe("internal");
    expect(sayFault(bug).message).not.toContain("secret");
  }
});
