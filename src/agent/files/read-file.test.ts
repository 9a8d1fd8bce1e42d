import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { openFileTools } from "#test/harness/file-tools.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

async function read(content: string | Buffer, range: Record<string, number> = {}) {
  using files = openFileTools();
  writeFileSync(join(files.work, "f"), content);
  return await files.call("read_file", { path: "f", ...range });
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

test("a short file comes as it is, without its byte order mark and with plain line ends", async () => {
  expect(await read("a\nb\n")).toEqual({ output: "a\nb" });
  expect(await read("a\nb")).toEqual({ output: "a\nb" });
  expect(await read("\uFEFFä\r\n\r\n€\r\n")).toEqual({ output: "ä\n\n€" });
  expect(await read("")).toEqual({ output: "[the file is empty]" });
  expect(await read("\n\n")).toEqual({ output: "\n" });
});

test("a range of lines says where it goes on", async () => {
  const text = numbered(10);
  expect(await read(text, { offset: 3, limit: 2 })).toEqual({
    output: "line 3\nline 4\n[lines 3 to 4; there is more: go on with offset 5]",
  });
  expect(await read(text, { offset: 9, limit: 2 })).toEqual({
    output: "line 9\nline 10\n[lines 9 to 10, the last of 10]",
  });
  expect(await read(text, { limit: 10 })).toEqual({ output: text.trimEnd() });
  expect(await read(text, { offset: 11 })).toEqual({
    output: "invalid_request: f has 10 lines; there is no line 11",
    is_error: true,
  });
});

test.each([
  [{ offset: 0 }, /offset: /],
  [{ limit: 0 }, /limit: /],
  [{ limit: 2001 }, /limit: /],
  [{ offset: 1.5 }, /offset: /],
])("a range of %j is refused", async (range, text) => {
  expect((await read("a", range)).output).toMatch(text);
});

test("a long file is shown by two thousand lines at most", async () => {
  const { output } = await read(numbered(2500));
  expect(output.split("\n")).toHaveLength(2001);
  expect(output).toMatch(/line 2000\n\[lines 1 to 2000; there is more: go on with offset 2001\]$/);
});

test("wide lines fill an answer before there are many, and nothing is shown twice", async () => {
  const wide = Array.from({ length: 100 }, (_, index) => `${index} ${"x".repeat(5000)}`);
  const { output } = await read(wide.join("\n"));
  expect(Buffer.byteLength(output)).toBeLessThan(140 * 1024);
  const next = Number(/go on with offset (\d+)\]$/.exec(output)?.[1]);
  const { output: rest } = await read(wide.join("\n"), { offset: next });
  expect(rest).toMatch(new RegExp(`^${next - 1} x`));
});

test("a very long line is cut between characters, and the next one is where it should be", async () => {
  const { output } = await read(`${"€".repeat(400_000)}\nnext\n`);
  expect(output).toMatch(/^€+ \[line cut: it has 1200000 bytes\]\nnext$/);
  expect(Buffer.byteLength(output)).toBeLessThan(9000);
});

test("what is no text is named, not shown", async () => {
  expect((await read(Buffer.from([1, 0, 2]))).output).toMatch(/f is a binary file of 3 bytes/);
  expect((await read(Buffer.from([0x61, 0xff, 0xfe]))).output).toMatch(/f is no UTF-8 text/);
});

test.each([
  ["image/png", PNG],
  ["image/jpeg", Buffer.from("ffd8ffe000104a46", "hex")],
  ["image/gif", Buffer.from("GIF89a\0\0")],
  ["image/webp", Buffer.from("RIFF\0\0\0\0WEBPVP8 ")],
])("%s is shown as an image by its first bytes", async (media_type, bytes) => {
  expect(await read(bytes)).toEqual({
    output: `f: ${media_type}, ${bytes.length} bytes`,
    images: [{ type: "image", media_type, data_b64: bytes.toString("base64") }],
  });
});

test("the largest image fits what an image may be, and a larger one is refused", async () => {
  const most = Math.floor(limits.image_b64_chars / 4) * 3;
  const image = (size: number) => Buffer.concat([PNG, Buffer.alloc(size - PNG.length)]);
  const [part] = (await read(image(most))).images ?? [];
  expect(part?.type === "image" ? part.data_b64?.length : 0).toBeLessThanOrEqual(
    limits.image_b64_chars,
  );
  expect((await read(image(most + 1))).output).toMatch(/at most \d+ can be shown/);
});

test("a pipe that nobody writes to does not keep the reader", async () => {
  using files = openFileTools();
  spawnSync("mkfifo", [join(files.work, "pipe")]);
  const outcome = await files.call("read_file", { path: "pipe" });
  expect(outcome.output).toBe("invalid_request: pipe is no regular file");
});
