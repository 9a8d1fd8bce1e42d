import { describe, expect, test } from "vitest";
import { createOrigins } from "./origins.ts";

const local = { hostname: "127.0.0.1", port: 7346, isTls: false };

describe("a server on the loopback", () => {
  const origins = createOrigins(local);

  test.each(["localhost:7346", "127.0.0.1:7346", "[::1]:7346", "LocalHost:7346"])(
    "answers to %s",
    (host) => expect(() => origins.checkHost(host)).not.toThrow(),
  );

  test.each([undefined, "", "localhost", "localhost:80", "evil.example:7346", "localhost.:7346"])(
    "does not answer to %s",
    (host) =>
      expect(() => origins.checkHost(host)).toThrow(expect.objectContaining({ code: "forbidden" })),
  );

  test("takes its own pages and programs, which send no origin", () => {
    expect(() => origins.checkOrigin(undefined)).not.toThrow();
    expect(() => origins.checkOrigin("http://localhost:7346")).not.toThrow();
    for (const origin of ["null", "", "https://localhost:7346", "http://localhost:1"])
      expect(() => origins.checkOrigin(origin)).toThrow();
  });
});

test("the port of the scheme may be left out", () => {
  const origins = createOrigins({ ...local, port: 443, isTls: true });
  for (const host of ["localhost", "localhost:443", "[::1]"])
    expect(() => origins.checkHost(host)).not.toThrow();
  expect(() => origins.checkHost("localhost:80")).toThrow();
  expect(() => origins.checkOrigin("https://localhost")).not.toThrow();
});

test("public_url adds one name, and the address that is listened on another", () => {
  const publicUrl = "https://reins.example.org:8443/";
  const origins = createOrigins({ ...local, hostname: "::", publicUrl });
  for (const host of ["reins.example.org:8443", "[::]:7346", "localhost:7346"])
    expect(() => origins.checkHost(host)).not.toThrow();
  expect(() => origins.checkHost("reins.example.org")).toThrow();
  expect(() => origins.checkOrigin("https://reins.example.org:8443")).not.toThrow();
});
