import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { chooseEncoding } from "./accepted-encoding.ts";
import { createPage } from "./page.ts";

const SCRIPT = "console.log(1);\n".repeat(100);
const HOST = { host: "127.0.0.1:7346" };

function openBuilt() {
  const { path, [Symbol.dispose]: dispose } = openTempDir();
  const folder = join(path, "web");
  mkdirSync(join(folder, "assets"), { recursive: true });
  const write = (name: string, content: string | Buffer) =>
    writeFileSync(join(folder, name), content);
  write("index.html", "<!doctype html><title>Reins</title>");
  write("icon.svg", "<svg/>");
  write("assets/main-a1B2_3-4.js", SCRIPT);
  write("assets/main-a1B2_3-4.js.br", brotliCompressSync(SCRIPT));
  write("assets/main-a1B2_3-4.js.gz", gzipSync(SCRIPT));
  write("assets/plain.css", "body{}");
  write(".stamp", "secret of the build");
  writeFileSync(join(path, "outside"), "outside");
  symlinkSync(join(path, "outside"), join(folder, "link.txt"));
  const page = createPage(folder);
  const get = (at: string, headers: Readonly<Record<string, string>> = {}) =>
    page.answer({ path: at, header: (name) => ({ ...HOST, ...headers })[name] });
  return { path, folder, page, get, write, [Symbol.dispose]: dispose };
}

const bytesOf = async (response: Response | undefined) =>
  Buffer.from((await response?.arrayBuffer()) ?? new ArrayBuffer());

test("the page itself is asked for each time, and has the headers that close it", async () => {
  using built = openBuilt();
  const response = built.get("/");
  expect(response?.status).toBe(200);
  expect(Object.fromEntries(response?.headers ?? [])).toEqual({
    "cache-control": "no-cache",
    "content-length": "35",
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; img-src 'self' data: blob:; font-src 'self'; connect-src 'self' ws://127.0.0.1:7346 wss://127.0.0.1:7346; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "content-type": "text/html; charset=utf-8",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    etag: expect.stringMatching(/^"[\w-]{22}-identity"$/),
    "permissions-policy": expect.stringContaining("camera=(), "),
    vary: "Accept-Encoding",
  });
  expect(String(await bytesOf(response))).toBe("<!doctype html><title>Reins</title>");
  expect(response?.headers.get("permissions-policy")).not.toContain("clipboard");
  expect(built.get("/index.html")?.headers.get("etag")).toBe(response?.headers.get("etag"));
});

test("a file with a hash in its name is kept for ever, any other is asked for each time", () => {
  using built = openBuilt();
  const cacheOf = (path: string) => built.get(path)?.headers.get("cache-control");
  expect(cacheOf("/assets/main-a1B2_3-4.js")).toBe("public, max-age=31536000, immutable");
  expect(cacheOf("/assets/plain.css")).toBe("no-cache");
  expect(cacheOf("/icon.svg")).toBe("no-cache");
});

test("each file has the type that its name says", () => {
  using built = openBuilt();
  built.write("strange.xyz", "");
  const typeOf = (path: string) => built.get(path)?.headers.get("content-type");
  expect(
    ["/assets/main-a1B2_3-4.js", "/assets/plain.css", "/icon.svg", "/strange.xyz"].map(typeOf),
  ).toEqual([
    "text/javascript; charset=utf-8",
    "text/css; charset=utf-8",
    "image/svg+xml",
    "application/octet-stream",
  ]);
});

test.each([
  ["gzip, deflate, br, zstd", "br"],
  ["gzip", "gzip"],
  ["br;q=0, gzip;q=0.5", "gzip"],
  ["*", "br"],
  ["*;q=0", null],
  ["identity", null],
  ["", null],
])("Accept-Encoding %j is answered with %s", async (accepted, encoding) => {
  using built = openBuilt();
  const response = built.get("/assets/main-a1B2_3-4.js", { "accept-encoding": accepted });
  expect(response?.headers.get("content-encoding")).toBe(encoding);
  const body = await bytesOf(response);
  expect(response?.headers.get("content-length")).toBe(String(body.length));
  const open =
    { br: brotliDecompressSync, gzip: gunzipSync }[encoding ?? ""] ?? ((raw: Buffer) => raw);
  expect(String(open(body))).toBe(SCRIPT);
  expect(response?.headers.get("etag")).toContain(`-${encoding ?? "identity"}"`);
});

test("an encoding that a file does not have is not chosen", () => {
  expect(chooseEncoding("br, gzip", (name) => name === "gzip")).toBe("gzip");
  expect(chooseEncoding("br, gzip", () => false)).toBe("identity");
  expect(chooseEncoding(undefined, () => true)).toBe("identity");
});

test("what the browser has already is not sent again, and its headers stay the page's", async () => {
  using built = openBuilt();
  const first = built.get("/");
  const etag = first?.headers.get("etag") ?? "";
  for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, etag.replace("identity", "br"), "*"]) {
    const again = built.get("/", { "if-none-match": tags });
    expect([again?.status, (await bytesOf(again)).length]).toEqual([304, 0]);
    for (const name of ["etag", "cache-control", "vary", "content-security-policy"])
      expect(again?.headers.get(name)).toBe(first?.headers.get(name));
  }
  expect(built.get("/", { "if-none-match": '"other-identity"' })?.status).toBe(200);
});

test.each([
  "/.stamp",
  "/link.txt",
  "/../outside",
  "/assets/../../outside",
  "/%2e%2e/outside",
  "/assets",
  "/assets/",
  "/assets/main-a1B2_3-4.js.br",
  "//index.html",
  "/constructor",
  "/v1/me",
])("%s is no path of the page", (path) => {
  using built = openBuilt();
  expect(built.get(path)).toBeUndefined();
});

test("a build does not mix with what is served already", async () => {
  using built = openBuilt();
  expect(built.get("/icon.svg")).toBeDefined();
  built.write("index.html", "another");
  built.write("later.txt", "later");
  expect(String(await bytesOf(built.get("/")))).toContain("Reins");
  expect(built.get("/later.txt")).toBeUndefined();
});

test("without a built page the address says how to get one, and is served once it is there", async () => {
  using dir = openTempDir();
  const page = createPage(join(dir.path, "web"));
  const get = (path: string) => page.answer({ path, header: () => undefined });
  const missing = get("/");
  expect(missing?.status).toBe(503);
  expect(missing?.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(String(await bytesOf(missing))).toContain("npm run build:web");
  expect(get("/icon.svg")).toBeUndefined();
  mkdirSync(join(dir.path, "web"));
  writeFileSync(join(dir.path, "web", "index.html"), "now");
  expect(get("/")?.status).toBe(200);
});

test("a folder that is no page is not read into memory", () => {
  using dir = openTempDir();
  for (let at = 0; at <= 2000; at += 1) writeFileSync(join(dir.path, String(at)), "");
  const page = createPage(dir.path);
  expect(() => page.answer({ path: "/", header: () => undefined })).toThrow("is no built page");
});
