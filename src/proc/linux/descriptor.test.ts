import { closeSync, fstatSync, openSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Descriptor } from "./descriptor.ts";

describe("a descriptor", () => {
  test("is closed once, and never the one that got its number", () => {
    const descriptor = new Descriptor(openSync("/dev/null", "r"));
    const number = descriptor.fd;
    descriptor[Symbol.dispose]();
    expect(descriptor.fd).toBeUndefined();
    const next = openSync("/dev/null", "r");
    descriptor[Symbol.dispose]();
    expect(next).toBe(number);
    expect(fstatSync(next).isCharacterDevice()).toBe(true);
    closeSync(next);
  });

  test("that was taken is left to its new owner", () => {
    const descriptor = new Descriptor(openSync("/dev/null", "r"));
    const taken = descriptor.take();
    descriptor[Symbol.dispose]();
    expect(fstatSync(taken).isCharacterDevice()).toBe(true);
    closeSync(taken);
    expect(() => descriptor.take()).toThrow("closed");
  });
});
