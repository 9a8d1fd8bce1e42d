import { expect, test } from "vitest";
import type { TranscriptMessage } from "#contract/agent/message.ts";
import { describeMessage, SpokenMessage } from "./spoken-message.ts";

const at = "2026-01-01T00:00:00.000Z";
const image = { type: "image", media_type: "image/png", data_b64: "AAAA" } as const;

const said: [TranscriptMessage, object][] = [
  [
    {
      ...{ role: "user", message_id: "m", at, origin: "message" },
      content: [{ type: "text", text: "Look:" }, image],
    },
    { role: "user", at, text: "Look:\n[an image, image/png]" },
  ],
  [
    {
      ...{ role: "assistant", message_id: "m", at, agent: "root", model: "x/y", text: "Hm." },
      ...{ tool_calls: [{ call_id: "c", tool: "t", input: {} }], stop_reason: "tool_calls" },
    },
    {
      ...{ role: "assistant", at, text: "Hm.", agent: "root" },
      tool_calls: [{ call_id: "c", tool: "t", input: {} }],
    },
  ],
  [
    {
      ...{ role: "assistant", message_id: "m", at, agent: "root", model: "x/y", text: "Well" },
      ...{ tool_calls: [], stop_reason: "other", interrupted: true },
    },
    { role: "assistant", at, text: "Well", agent: "root", interrupted: true },
  ],
  [
    { role: "tool", at, call_id: "c", tool: "t", output: "out", is_error: true, images: [image] },
    {
      ...{ role: "tool", at, text: "out\n[an image, image/png]" },
      ...{ call_id: "c", tool: "t", is_error: true },
    },
  ],
  [
    { role: "summary", at, text: "All." },
    { role: "summary", at, text: "All." },
  ],
  [
    { role: "error", at, code: "model_failed", message: "No." },
    { role: "error", at, text: "No.", code: "model_failed" },
  ],
];

test.each(said)("%j is told as text", (message, spoken) => {
  expect(describeMessage(message)).toEqual(spoken);
  expect(SpokenMessage.parse(spoken)).toEqual(spoken);
});
