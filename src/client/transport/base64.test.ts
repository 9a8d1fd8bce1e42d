import fc from "fast-check";
import { expect, test } from "vitest";
import { findBase64, toBase64 } from "./base64.ts";

test("any bytes come back as they were, and look as everybody writes them", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20_000 }), (bytes) => {
      const text = toBase64(bytes);
      expect(text).toBe(Buffer.from(bytes).toString("base64"));
      expect(Buffer.compare(findBase64(text) ?? Buffer.alloc(0), bytes)).toBe(0);
    }),
  );
});
