import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { toQueued } from "./sent-messages.ts";

const blobs = { put: () => "", get: () => undefined };

test("a message that no line of the log has room for is refused, whichever way it is written", () => {
  // In JSON each of them takes six bytes.
  const text = "\u0001".repeat(limits.message_chars);
  for (const content of [text, [{ type: "text" as const, text }]])
    expect(() => toQueued([{ content }], blobs)).toThrow(
      expect.objectContaining({ code: "payload_too_large" }),
    );
  const plain = "字".repeat(limits.message_chars);
  expect(toQueued([{ content: plain }], blobs)).toEqual([[{ type: "text", text: plain }]]);
});
