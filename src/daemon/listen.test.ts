import { expect, test } from "vitest";
import { checkExposure, isLoopback, parseListen } from "./listen.ts";

test.each([
  ["127.0.0.1:7346", "127.0.0.1", 7346],
  [":0", "127.0.0.1", 0],
  ["localhost:80", "localhost", 80],
  ["[::1]:65535", "::1", 65_535],
  ["0.0.0.0:1", "0.0.0.0", 1],
])("%s is an address", (text, hostname, port) =>
  expect(parseListen(text)).toEqual({ hostname, port }),
);

test.each([
  "",
  "7346",
  "localhost",
  "::1:80",
  "[::1]",
  "[1.2.3.4]:80",
  "a:65536",
  "a:-1",
  "a b:1",
  "a:1x",
])("%s is none", (text) => expect(parseListen(text)).toBeUndefined());

test("only the machine's own addresses are loopback", () => {
  for (const name of ["127.0.0.1", "127.9.9.9", "localhost", "::1"])
    expect(isLoopback(name)).toBe(true);
  for (const name of [
    "0.0.0.0",
    "::",
    "127.evil.example",
    "localhost.evil.example",
    "128.0.0.1",
    "::2",
  ])
    expect(isLoopback(name)).toBe(false);
});

test("what others reach needs TLS or a word that it is meant", () => {
  const open = { hostname: "0.0.0.0", port: 1 };
  const refused = expect.objectContaining({ code: "invalid_request" });
  expect(() => checkExposure(open, { isTls: false, isAllowed: false })).toThrow(refused);
  expect(() => checkExposure(open, { isTls: true, isAllowed: false })).not.toThrow();
  expect(() => checkExposure(open, { isTls: false, isAllowed: true })).not.toThrow();
  const local = { hostname: "::1", port: 1 };
  expect(() => checkExposure(local, { isTls: false, isAllowed: false })).not.toThrow();
});
