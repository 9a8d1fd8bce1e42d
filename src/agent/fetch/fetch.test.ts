import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createFixedToolset } from "#agent/toolsets/fixed-toolset.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { defined } from "#contract/values/defined.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { callerOf, createToolContext } from "#test/harness/tool-context.ts";
import { createFetchTool } from "./fetch.ts";
import { createLookup, httpGet, type Lookup } from "./http-get.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function openServer(handler: Handler) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? "");
    handler(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server's address is one of these.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface Setting {
  readonly allow_private?: boolean;
  readonly allow_hosts?: readonly string[];
  readonly timeout_ms?: number;
  readonly lookup?: Lookup;
  readonly clock?: ManualClock;
}

function open({ allow_private = true, allow_hosts, timeout_ms, lookup, clock }: Setting = {}) {
  const common = { name: "fetch", tools: undefined, instruction: undefined };
  const tool = createFetchTool(
    { ...common, type: "fetch", allow_private, allow_hosts, timeout_ms },
    { clock: clock ?? new ManualClock(), version: "1.2.3", lookup },
  );
  return callerOf(createFixedToolset(common, { kind: "fetch", tools: [tool] }));
}

const answerWith =
  (type: string, body: string | Buffer, more: Record<string, string> = {}): Handler =>
  (_request, response) => {
    response.writeHead(200, { "content-type": type, ...more });
    response.end(body);
  };

/** A name that leads to the addresses given, whatever it is. */
const leadsTo =
  (...addresses: string[]): Lookup =>
  (_name, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );

test("an answer tells its status and type, then its text", async () => {
  await using server = await openServer((request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify([request.method, request.headers["user-agent"]]));
  });
  expect(await open()("fetch", { url: `${server.url}/x` })).toEqual({
    output: '[status 200, application/json]\n["GET","reins/1.2.3"]',
    is_error: false,
  });
});

test("a page becomes Markdown, text, or stays as it is", async () => {
  const page = '<h1>Hi</h1><a href="/x">there</a>';
  await using server = await openServer(answerWith("text/html; charset=utf-8", page));
  const get = async (format?: string) =>
    (await open()("fetch", { url: server.url, ...defined({ format }) })).output;
  expect(await get()).toContain(`# Hi\n\n[there](${server.url}/x)`);
  expect(await get("text")).toContain("Hi\n\nthere");
  expect(await get("html")).toContain(page);
});

test("a text in other letters is decoded as it says", async () => {
  const bytes = Buffer.from([0xe4, 0x20, 0x80]);
  await using server = await openServer(answerWith("text/plain; charset=windows-1252", bytes));
  expect((await open()("fetch", { url: server.url })).output).toContain("ä €");
  await using odd = await openServer(answerWith("text/plain; charset=martian", "plain"));
  expect((await open()("fetch", { url: odd.url })).output).toContain("plain");
});

test.each([
  ["a redirect to nowhere", { location: "ftp://127.0.0.1/" }, "only http and https"],
  ["a redirect with a password", { location: "http://a:b@127.0.0.1/" }, "name and password"],
  ["an unknown packing", { "content-encoding": "zip" }, "packed as zip"],
  ["a packing of a strange name", { "content-encoding": "constructor" }, "packed as"],
])("%s is refused, and its connection is closed", async (_what, headers, why) => {
  let closed = 0;
  await using server = await openServer((request, response) => {
    request.socket.on("close", () => {
      closed += 1;
    });
    response.writeHead("location" in headers ? 302 : 200, headers);
    // Without an end: it is for the one who asked to leave.
    response.write("x".repeat(100));
  });
  expect(await open()("fetch", { url: server.url })).toMatchObject({
    is_error: true,
    output: expect.stringMatching(new RegExp(`^invalid_request: .*${why}`)),
  });
  await waitFor("the end of the connection", () => closed === 1);
});

test("an error page is an error with its text", async () => {
  await using server = await openServer((_request, response) => {
    response.writeHead(404, { "content-type": "text/plain" });
    response.end("no such page");
  });
  expect(await open()("fetch", { url: server.url })).toEqual({
    output: "[status 404, text/plain]\nno such page",
    is_error: true,
  });
});

test("images are shown, and other bytes are only counted", async () => {
  await using server = await openServer(answerWith("image/png", Buffer.from([1, 0, 2])));
  expect(await open()("fetch", { url: server.url })).toMatchObject({
    images: [{ type: "image", media_type: "image/png", data_b64: "AQAC" }],
  });
  await using binary = await openServer(answerWith("application/zip", Buffer.from([1, 0, 2])));
  expect((await open()("fetch", { url: binary.url })).output).toContain(
    "[3 bytes that are no text]",
  );
});

test("local addresses are refused unless they are allowed", async () => {
  await using server = await openServer(answerWith("text/plain", "secret"));
  const { port } = server;
  const hosts = ["127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]"];
  for (const host of [...hosts, "0.0.0.0", "localhost", "[::ffff:7f00:1]"]) {
    const outcome = await open({ allow_private: false })("fetch", {
      url: `http://${host}:${port}/`,
    });
    expect(outcome, host).toMatchObject({
      is_error: true,
      output: expect.stringMatching(/^forbidden: .* is a private address/),
    });
  }
  expect(server.seen).toEqual([]);
  expect((await open()("fetch", { url: server.url })).output).toContain("secret");
});

test("a name that leads to a private address is refused", async () => {
  await using server = await openServer(answerWith("text/plain", "secret"));
  for (const address of ["127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1"]) {
    const get = open({ allow_private: false, lookup: leadsTo(address) });
    const outcome = await get("fetch", { url: `http://public.example:${server.port}/` });
    expect(outcome.output).toBe(
      "forbidden: public.example is a private address, which may not be fetched from",
    );
  }
  expect(server.seen).toEqual([]);
});

test("a name is looked up once for each request, so there is no second answer", async () => {
  await using server = await openServer(answerWith("text/plain", "here"));
  let looks = 0;
  const lookup: Lookup = (name, options, callback) => {
    looks += 1;
    leadsTo("127.0.0.1")(name, options, callback);
  };
  await open({ lookup })("fetch", { url: `http://public.example:${server.port}/` });
  expect(looks).toBe(1);
});

test("of the addresses of a name only the public ones are connected to", () => {
  const lookup = createLookup({
    allow_private: false,
    lookup: leadsTo("127.0.0.1", "1.1.1.1", "::1", "2606:4700::1"),
  });
  const got: unknown[] = [];
  lookup("x.example", { all: true }, (...answer) => got.push(answer));
  lookup("x.example", { all: false }, (...answer) => got.push(answer));
  expect(got).toEqual([
    [
      null,
      [
        { address: "1.1.1.1", family: 4 },
        { address: "2606:4700::1", family: 6 },
      ],
    ],
    [null, "1.1.1.1", 4],
  ]);
});

test("redirects are followed, and told", async () => {
  await using server = await openServer((request, response) => {
    const step = Number(request.url?.slice(1));
    if (step < 5) response.writeHead(302, { location: `/${step + 1}` }).end();
    else response.writeHead(200, { "content-type": "text/plain" }).end("arrived");
  });
  const { output } = await open()("fetch", { url: `${server.url}/0` });
  expect(output).toBe(`[status 200, text/plain, from ${server.url}/5]\narrived`);
  expect(server.seen).toHaveLength(6);
});

test("the sixth redirect is not followed", async () => {
  await using server = await openServer((_request, response) => {
    response.writeHead(307, { location: "/again" }).end();
  });
  const { output } = await open()("fetch", { url: server.url });
  expect(output).toMatch(/^invalid_request: url: more than 5 redirects, the last to /);
  expect(server.seen).toHaveLength(6);
});

test("a redirect is held to the same rules as the first address", async () => {
  let target = "";
  await using server = await openServer((request, response) => {
    if (request.url === "/secret") response.end("secret");
    else response.writeHead(301, { location: target }).end();
  });
  const hosts = ["good.example"];
  const get = open({ allow_hosts: hosts, lookup: leadsTo("127.0.0.1") });
  const url = `http://good.example:${server.port}/`;
  for (const location of [
    `http://127.0.0.1:${server.port}/secret`,
    `http://bad.example:${server.port}/secret`,
    "file:///etc/passwd",
    `http://user:pass@good.example:${server.port}/secret`,
  ]) {
    target = location;
    expect(await get("fetch", { url }), location).toMatchObject({ is_error: true });
  }
  expect(server.seen).not.toContain("/secret");
  target = "/secret";
  expect((await get("fetch", { url })).output).toContain("secret");
});

test("a redirect to a private address is refused", async () => {
  await using inner = await openServer(answerWith("text/plain", "secret"));
  let isFirst = true;
  await using outer = await openServer((_request, response) => {
    isFirst = false;
    response.writeHead(302, { location: `http://127.0.0.1:${inner.port}/` }).end();
  });
  // The first step is let through, as a public server would be.
  const policy = {
    get allow_private() {
      return isFirst;
    },
    allow_hosts: undefined,
    version: "1",
  };
  const getting = httpGet(outer.url, policy, { signal: new AbortController().signal });
  await expect(getting).rejects.toMatchObject({ code: "forbidden" });
  expect(inner.seen).toEqual([]);
});

test("an answer that came from a private address all the same is dropped", async () => {
  let hasAsked = false;
  await using server = await openServer((_request, response) => {
    hasAsked = true;
    response.end("secret");
  });
  // As if the connection had ended up elsewhere than it was sent to.
  const policy = {
    get allow_private() {
      return !hasAsked;
    },
    allow_hosts: undefined,
    version: "1",
  };
  const getting = httpGet(server.url, policy, { signal: new AbortController().signal });
  await expect(getting).rejects.toMatchObject({ code: "forbidden" });
});

test("with a list of hosts only these are fetched from", async () => {
  await using server = await openServer(answerWith("text/plain", "yes"));
  const get = open({
    allow_hosts: ["good.example", "*.docs.example"],
    lookup: leadsTo("127.0.0.1"),
  });
  const fetch = async (host: string) =>
    (await get("fetch", { url: `http://${host}:${server.port}/` })).output;
  for (const host of ["good.example", "GOOD.example", "a.docs.example", "a.b.docs.example"])
    expect(await fetch(host), host).toContain("yes");
  for (const host of ["docs.example", "x.good.example", "evildocs.example", "good.example.evil"])
    expect(await fetch(host), host).toMatch(/^forbidden: .* is not one of the hosts/);
});

test.each([
  ["ftp://example.com/", /only http and https can be fetched, not ftp:/],
  ["file:///etc/passwd", /only http and https/],
  ["data:text/plain,x", /only http and https/],
  ["example.com", /url: it is not a valid address/],
  ["http://", /url: it is not a valid address/],
  ["http://a:b@example.com/", /name and password/],
  ["", /url: /],
])("the address %j is refused", async (url, text) => {
  expect(await open()("fetch", { url })).toMatchObject({
    is_error: true,
    output: expect.stringMatching(text),
  });
});

test.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
])("an answer that is packed as %s is unpacked", async (encoding, pack) => {
  const packed = pack(Buffer.from("unpacked"));
  await using server = await openServer(
    answerWith("text/plain", packed, { "content-encoding": encoding }),
  );
  expect((await open()("fetch", { url: server.url })).output).toContain("unpacked");
});

test("a small answer that unpacks to very much is cut", { timeout: 30_000 }, async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, "x"));
  await using server = await openServer(
    answerWith("text/plain", bomb, { "content-encoding": "gzip" }),
  );
  const { output } = await open()("fetch", { url: server.url, max_bytes: 2000 });
  expect(output).toMatch(
    /^\[status 200, text\/plain, cut: it is longer\]\nx+\n\[cut: the whole text has 8388608 bytes\]$/,
  );
  expect(output.length).toBeLessThan(2100);
});

/** Sends the same again and again until nobody listens. */
const sendForEver =
  (encoding: string, part: Buffer, first = Buffer.alloc(0)): Handler =>
  (_request, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-encoding": encoding });
    const more = () => {
      while (response.write(part));
    };
    response.on("drain", more);
    response.write(first);
    more();
  };

test("an answer that unpacks without an end is read no further than it is kept", {
  timeout: 20_000,
}, async () => {
  await using server = await openServer(
    sendForEver("gzip", gzipSync(Buffer.alloc(1_000_000, "x"))),
  );
  const { output } = await open()("fetch", { url: server.url });
  expect(output).toMatch(/cut: it is longer/);
});

test("an answer without an end that unpacks to nothing is cut", { timeout: 20_000 }, async () => {
  const nothing = Buffer.from("000000ffff".repeat(10_000), "hex");
  await using server = await openServer(
    sendForEver("deflate", nothing, Buffer.from("789c", "hex")),
  );
  const { output } = await open()("fetch", { url: server.url });
  expect(output).toBe("[status 200, text/plain, cut: it is longer]\n");
});

test("an answer without an end is cut", { timeout: 30_000 }, async () => {
  await using server = await openServer(sendForEver("identity", Buffer.alloc(65_536, "x")));
  const { output } = await open()("fetch", { url: server.url });
  expect(output).toMatch(/cut: it is longer/);
  expect(output.length).toBeLessThan(66_000);
});

test.each([
  ["zstd", /packed as zstd, which was not asked for/],
  ["gzip", /cannot be fetched from: /],
])("an answer that wrongly says that it is packed as %s is an error", async (encoding, text) => {
  await using server = await openServer(
    answerWith("text/plain", "not packed", { "content-encoding": encoding }),
  );
  expect((await open()("fetch", { url: server.url })).output).toMatch(text);
});

test("a server that does not answer is given up", async () => {
  const clock = new ManualClock();
  await using server = await openServer(() => undefined);
  const getting = open({ clock, timeout_ms: 5000 })("fetch", { url: server.url });
  await waitFor("the request", () => server.seen.length === 1);
  clock.advance(5000);
  expect(await getting).toEqual({
    output: "invalid_request: no whole answer came within 5 seconds",
    is_error: true,
  });
});

test("a body that stops in the middle is given up, or is an error when it is cut off", async () => {
  const clock = new ManualClock();
  let isOpen = true;
  await using server = await openServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-length": "100" });
    response.write("some");
    if (!isOpen) setImmediate(() => response.destroy());
  });
  const getting = open({ clock })("fetch", { url: server.url });
  await waitFor("the request", () => server.seen.length === 1);
  clock.advance(30_000);
  expect(await getting).toMatchObject({ output: expect.stringMatching(/no whole answer/) });
  isOpen = false;
  expect(await open()("fetch", { url: server.url })).toMatchObject({
    is_error: true,
    output: expect.stringMatching(/cannot be fetched from/),
  });
});

test("an interrupt ends the request", async () => {
  await using server = await openServer(() => undefined);
  const context = createToolContext();
  const getting = open()("fetch", { url: server.url }, context);
  await waitFor("the request", () => server.seen.length === 1);
  context.interrupt();
  expect(await getting).toMatchObject({ output: expect.stringMatching(/^interrupted/) });
});

test("nobody at the address is an answer", async () => {
  await using server = await openServer(() => undefined);
  const { url } = server;
  await server[Symbol.asyncDispose]();
  const outcome = await open()("fetch", { url }).finally(() => undefined);
  expect(outcome.output).toMatch(/^invalid_request: 127\.0\.0\.1:\d+ cannot be fetched from: /);
});
