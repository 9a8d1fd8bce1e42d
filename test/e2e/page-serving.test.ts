import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sendPlain, talk } from "#test/harness/access-http.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { openReins, succeed } from "#test/harness/reins.ts";
import { openTempDir, type TempDir } from "#test/harness/temp-dir.ts";

/** The page through a real server, and the ways into it. */

const SCRIPT = `export const all = [${"1,".repeat(1000)}];`;
const SCRIPT_PATH = "/assets/index-B9FnvNim.js";

let built: TempDir;
let gateway: TestGateway;
beforeAll(async () => {
  built = openTempDir();
  mkdirSync(join(built.path, "assets"));
  writeFileSync(join(built.path, "index.html"), "<!doctype html><title>Reins</title>");
  writeFileSync(join(built.path, SCRIPT_PATH), SCRIPT);
  writeFileSync(join(built.path, `${SCRIPT_PATH}.br`), brotliCompressSync(SCRIPT));
  gateway = await openTestGateway({
    pageFolder: built.path,
    patience: { revocationCheckMs: 20 },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  built[Symbol.dispose]();
});

const plain = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
  sendPlain(gateway.url, { path, method, headers });

describe("the page", () => {
  test("is there without a token, with a policy that names this server's own sockets", async () => {
    const page = await plain("/");
    expect([page.status, page.text]).toEqual([200, "<!doctype html><title>Reins</title>"]);
    const { host } = new URL(gateway.url);
    expect(page.headers["content-security-policy"]).toContain(
      `connect-src 'self' ws://${host} wss://${host};`,
    );
    expect(page.headers).toMatchObject({
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-request-id": expect.stringMatching(/^req_/),
    });
  });

  test("comes compressed, and not a second time", async () => {
    const response = await gateway.as(undefined).fetch(SCRIPT_PATH);
    expect(await response.text()).toBe(SCRIPT);
    const raw = await fetch(`${gateway.url}${SCRIPT_PATH}`, {
      headers: { "Accept-Encoding": "br" },
    });
    expect(raw.headers.get("content-encoding")).toBe("br");
    expect(raw.headers.get("content-length")).toBe(String(brotliCompressSync(SCRIPT).length));
    const etag = raw.headers.get("etag") ?? "";
    const again = await plain(SCRIPT_PATH, { "If-None-Match": etag });
    expect([again.status, again.text]).toEqual([304, ""]);
    expect(brotliDecompressSync(brotliCompressSync(SCRIPT)).toString()).toBe(SCRIPT);
  });

  test("is asked for by HEAD without a body, with the length that it has", async () => {
    for (const path of ["/", SCRIPT_PATH]) {
      const [head, whole] = [await plain(path, {}, "HEAD"), await plain(path)];
      expect([head.status, head.text]).toEqual([200, ""]);
      for (const name of ["content-length", "content-type", "etag", "cache-control"])
        expect([name, head.headers[name]]).toEqual([name, whole.headers[name]]);
    }
  });

  test("is nothing for other names and for the pages of others", async () => {
    expect((await plain("/", { Host: "evil.example" })).status).toBe(403);
    expect((await plain("/", { Origin: "https://evil.example" })).status).toBe(403);
    expect((await plain("/?ticket=x")).status).toBe(400);
  });

  test("has no other path, whatever is written", async () => {
    for (const path of ["/s/ses_0123", "/etc/passwd", "/assets/", "/index.html/", "/.stamp"])
      expect([path, (await plain(path)).status]).toEqual([path, 400]);
    const { host } = new URL(gateway.url);
    for (const path of [
      "/../../etc/passwd",
      "/assets/..%2f..%2fetc/passwd",
      "//etc/passwd",
      "/%00",
    ]) {
      const said = await talk(gateway.url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      expect([path, said.slice(0, 12)]).toEqual([path, "HTTP/1.1 400"]);
    }
    expect((await plain("/", {}, "POST")).status).toBe(400);
    expect((await plain("/v1/me")).status).toBe(401);
  });

  test("says how it is built where it is not", async () => {
    await using bare = await openTestGateway({ pageFolder: join(built.path, "nowhere") });
    const page = await bare.as(undefined).fetch("/");
    expect([page.status, page.headers.get("content-type")]).toEqual([
      503,
      "text/html; charset=utf-8",
    ]);
    expect(await page.text()).toContain("npm run build:web");
    expect((await bare.call("caller.get", {})).status).toBe(200);
  });
});

/** Lets a browser in. */
async function enter(url: string, ticket: string) {
  const answer = await sendPlain(url, {
    method: "POST",
    path: "/v1/tickets/exchange",
    body: JSON.stringify({ ticket }),
    headers: { Origin: url, "Content-Type": "application/json" },
  });
  const setCookie = answer.headers["set-cookie"]?.[0] ?? "";
  const headers = { Cookie: setCookie.split(";")[0] ?? "", Origin: url, "x-reins-page": "1" };
  return { status: answer.status, setCookie, headers };
}

describe("a browser", () => {
  test("that logs out has no cookie any more, nor anything open; another one stays", async () => {
    const tickets = [
      await gateway.get("ticket.create", {}),
      await gateway.get("ticket.create", {}),
    ];
    const [one, other] = await Promise.all(tickets.map(({ ticket }) => enter(gateway.url, ticket)));
    const headers = one?.headers ?? {};
    const me = async (cookie = headers) => (await plain("/v1/me", cookie)).status;
    expect([await me(), await me(other?.headers)]).toEqual([200, 200]);
    const events = await fetch(`${gateway.url}/v1/events`, { headers });
    const stays = await fetch(`${gateway.url}/v1/events`, { headers: other?.headers ?? {} });
    const ended = events.text();
    const out = await plain("/v1/logout", headers, "POST");
    expect([out.status, out.text]).toEqual([200, "{}"]);
    expect(out.headers["set-cookie"]).toEqual([
      "reins=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0",
    ]);
    expect([await me(), await me(other?.headers)]).toEqual([401, 200]);
    expect(await ended).toContain("unauthenticated");
    await stays.body?.cancel();
    const { entries } = await gateway.get("audit.list", { action: "caller.logged_out" });
    expect(entries).toMatchObject([{ user_id: "local" }]);
  });

  test("is not logged out by another page", async () => {
    const { ticket } = await gateway.get("ticket.create", {});
    const { headers } = await enter(gateway.url, ticket);
    const { "x-reins-page": _, ...bare } = headers;
    expect((await plain("/v1/logout", bare, "POST")).status).toBe(403);
    expect((await plain("/v1/me", headers)).status).toBe(200);
  });

  test("that comes by https through something before us gets a cookie for https alone", async () => {
    const flags = { public_url: "https://reins.example.org" };
    await using far = await openTestGateway({ pageFolder: built.path, flags });
    const { ticket } = await far.get("ticket.create", {});
    const { setCookie } = await enter(far.url, ticket);
    expect(setCookie).toMatch(/; Secure$/);
  });
});

test("a caller is told where its sessions start, and completes a directory from there", async () => {
  const { work_dir } = await gateway.get("caller.get", {});
  const { path, names } = await gateway.get("directory.list", {});
  expect(path).toBe(work_dir);
  expect(Array.isArray(names)).toBe(true);
});

test("an example is started by its name, and a glance tells what it asks", async () => {
  using dir = openTempDir();
  const { session_id } = await gateway.get("agent.create", {
    source: { kind: "name", name: "hello" },
    working_dir: dir.path,
  });
  const glance = async () =>
    (await gateway.get("session.glances", { session_ids: [session_id] })).glances[0];
  const say = async (content: string) => {
    await gateway.get("agent.send", { session_id, messages: [{ content }] });
  };
  expect(await glance()).toMatchObject({ agent: "root", activity: "idle", needs_answer: false });
  await say("Hello");
  const greeted = await waitFor("the greeting", async () => {
    const now = await glance();
    return now?.activity === "idle" && now.line !== "" ? now : undefined;
  });
  expect(greeted).toMatchObject({ line: expect.stringContaining("Hello! I am a script") });
  await say("Yes");
  const asked = await waitFor("the question", async () => {
    const now = await glance();
    return now?.needs_answer === true ? now : undefined;
  });
  expect(asked).toMatchObject({
    ...{ session_id, activity: "waiting", model: expect.stringContaining("scripted") },
    line: "asks: write_file hello-reins.txt",
  });
});

const ADDRESS = /open (http:\S+)#ticket=(\S+)/;

describe("reins serve", () => {
  test("prints an address with a ticket, and reins open another", async () => {
    await using reins = await openReins();
    const serving = reins.start(["serve", "--listen", "127.0.0.1:0", "--page-dir", built.path]);
    await serving.says("Press Ctrl-C to stop the server.");
    const [, url = "", ticket = ""] = ADDRESS.exec(String(serving.stdout())) ?? [];
    expect(String(serving.stdout())).toContain(`reins listens on ${url.slice(0, -1)}\n`);
    expect(serving.stdout().toString()).toContain("signs in one browser");
    const origin = url.slice(0, -1);
    expect((await enter(origin, ticket)).status).toBe(200);
    expect((await enter(origin, ticket)).status).toBe(401);
    const opened = succeed(await reins.run(["open"]));
    expect(opened).toMatch(/^http:\S+#ticket=reins_ticket_[\w-]{43}\n$/);
    expect((await enter(origin, opened.trim().split("#ticket=")[1] ?? "")).status).toBe(200);
    const remote = JSON.parse(succeed(await reins.run(["open", "--json", "--remote", origin])));
    expect((await enter(origin, remote.url.split("#ticket=")[1])).status).toBe(200);
    serving.child.kill("SIGTERM");
    expect(await serving.ended).toMatchObject({ code: 0 });
    const none = await reins.run(["open"]);
    expect(none).toMatchObject({ code: 8, stdout: "" });
    expect(none.stderr).toContain("reins serve starts a server");
  });

  test("does not count a server that was killed", async () => {
    await using reins = await openReins();
    const serving = reins.start(["serve", "--listen", "127.0.0.1:0"]);
    await serving.says("Ctrl-C");
    serving.child.kill("SIGKILL");
    await serving.ended;
    expect(readFileSync(join(reins.home, "gateway.json"), "utf8")).toContain("page_url");
    expect(await reins.run(["open", "--print"])).toMatchObject({ code: 8 });
  });

  test("takes another port when it may and the first is taken", async () => {
    await using reins = await openReins();
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    const listen = ["serve", "--listen", `127.0.0.1:${port}`];
    expect(await reins.run(listen)).toMatchObject({ code: 5 });
    const serving = reins.start([...listen, "--any-port"]);
    await serving.says("Ctrl-C");
    taken.close();
    const [, url = ""] = ADDRESS.exec(String(serving.stdout())) ?? [];
    expect(new URL(url).port).not.toBe(String(port));
    expect(String(serving.stdout())).toContain(`, because port ${port} is in use\n`);
    expect((await fetch(`${url}v1/health`)).status).toBe(200);
    serving.child.kill("SIGINT");
    expect(await serving.ended).toMatchObject({ code: 0 });
  });

  test("prints no ticket for programs", async () => {
    await using reins = await openReins();
    const serving = reins.start(["serve", "--listen", "127.0.0.1:0", "--json"]);
    await serving.says("\n");
    serving.child.kill("SIGTERM");
    expect((await serving.ended).stdout).not.toContain("ticket");
  });
});
