import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { operations } from "#contract/operations.ts";
import { compress, isCompressible } from "./compression.ts";

const TEXT = JSON.stringify({
  sessions: Array.from({ length: 200 }, (_, n) => ({ title: `build ${n}` })),
});

test.each([
  ["gzip, deflate, br, zstd", "br", brotliDecompressSync],
  ["gzip", "gzip", gunzipSync],
  ["br;q=0, gzip;q=0.5", "gzip", gunzipSync],
] as const)("Accept-Encoding: %s is answered in %s", async (accepted, encoding, read) => {
  const { body, headers } = await compress(TEXT, accepted);
  expect(headers).toEqual({ "Content-Encoding": encoding, Vary: "Accept-Encoding" });
  expect(read(body).toString()).toBe(TEXT);
  expect(body.length).toBeLessThan(TEXT.length / 4);
});

test.each([
  ["no encoding is accepted", TEXT, "identity"],
  ["nothing is said", TEXT, undefined],
  ["an answer is small", "{}", "br"],
  ["an answer is larger than what is compressed", " ".repeat(16 * 1024 * 1024 + 1), "br"],
])("where %s the text is sent as it is", async (_when, text, accepted) => {
  const { body, headers } = await compress(text, accepted);
  expect(headers).toEqual({ Vary: "Accept-Encoding" });
  expect(body.equals(Buffer.from(text))).toBe(true);
});

test("no answer with a secret, no stream and no range of output is compressed", () => {
  const names = Object.entries(operations)
    .filter(([name, spec]) => isCompressible(name, spec))
    .map(([name]) => name);
  expect(names).toEqual(expect.arrayContaining(["session.list", "server.openapi", "audit.list"]));
  expect(
    names.filter((name) =>
      /^(?:token|ticket|caller)\.|^session\.(?:output|export|events)/.test(name),
    ),
  ).toEqual([]);
});
