import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { openGatewayDaemon } from "#daemon/gateway.ts";
import { type PlainAnswer, type PlainRequest, sendPlain, talk } from "#test/harness/access-http.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** Who is let in, by which name, from which page and with what; everything else is refused in the one shape. */

let gateway: TestGateway;
let sessionId: string;
/** Everything secret that a test used; none of it may be found on the disk. */
const secrets = new Set<string>();

beforeAll(async () => {
  gateway = await openTestGateway({ patience: { revocationCheckMs: 20 } });
  const made = await gateway.get("session.create", { kind: "terminal", argv: ["/bin/cat"] });
  sessionId = made.session_id;
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

const mint = async (more: object = {}) => {
  const request = { user_id: "u", role: "operator", ...more } as const;
  const made = await gateway.get("token.create", request);
  secrets.add(made.secret);
  return made;
};
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const handshake = {
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
};

/** The same request as plain HTTP and as an upgrade of each socket. */
async function sendBoth(request: Omit<PlainRequest, "path">, query = ""): Promise<PlainAnswer[]> {
  const upgrade = { ...request, headers: { ...handshake, ...request.headers } };
  return [
    await sendPlain(gateway.url, { ...request, path: `/v1/sessions${query}` }),
    await sendPlain(gateway.url, { ...upgrade, path: `/v1/sessions/${sessionId}/ws${query}` }),
    await sendPlain(gateway.url, { ...upgrade, path: `/v1/terminals/ws${query}` }),
  ];
}

function expectFault(answer: PlainAnswer, status: number, code: string): void {
  const body: unknown = JSON.parse(answer.text);
  expect([answer.status, body]).toEqual([
    status,
    {
      error: {
        code,
        message: expect.any(String),
        details: expect.any(Object),
        request_id: expect.stringMatching(/^req_/),
      },
    },
  ]);
  expect(answer.headers["content-type"]).toBe("application/json");
  expect(answer.headers["x-request-id"]).toBe(
    (body as { error: { request_id: string } }).error.request_id,
  );
}

const portOf = (url: string) => new URL(url).port;

describe("a page of another origin is refused, with a right token too", () => {
  test.each([
    "https://evil.example",
    "null",
    "http://localhost",
    "http://127.0.0.1:1",
    "https://127.0.0.1:PORT",
    "http://localhost:PORT.evil.example",
    "http://127.0.0.1:PORT/",
    "",
  ])("Origin: %s", async (origin) => {
    const Origin = origin.replace("PORT", portOf(gateway.url));
    for (const answer of await sendBoth({ headers: { ...bearer(gateway.token), Origin } }))
      expectFault(answer, 403, "forbidden");
  });
});

describe("a name that is not ours is refused, as a page would use it that rebinds its own", () => {
  test.each([
    "evil.example",
    "evil.example:PORT",
    "localhost:1",
    "localhost",
    "127.0.0.1.evil.example:PORT",
    "127.0.0.2:PORT",
  ])("Host: %s", async (host) => {
    const Host = host.replace("PORT", portOf(gateway.url));
    for (const answer of await sendBoth({ headers: { ...bearer(gateway.token), Host } }))
      expectFault(answer, 403, "forbidden");
  });

  test.each(["Host: user@localhost:PORT", "Host: ", "Host: a b", "X-Nothing: 1"])(
    "one that can be no name: %s",
    async (line) => {
      const head = line.replace("PORT", portOf(gateway.url));
      for (const more of ["", "Connection: Upgrade\r\nUpgrade: websocket\r\n"]) {
        for (const target of ["/v1/health", `${gateway.url}/v1/health`]) {
          const text = await talk(gateway.url, `GET ${target} HTTP/1.1\r\n${head}\r\n${more}\r\n`);
          expect(text).toMatch(/^HTTP\/1.1 40[03] /);
          expect(text).toMatch(
            /\{"error":\{"code":"(invalid_request|forbidden)",.*"request_id":"req_/,
          );
        }
      }
    },
  );

  test("health and the API's description have no other door", async () => {
    for (const path of ["/v1/health", "/v1/openapi.json", "/metrics", "/nothing"])
      expectFault(
        await sendPlain(gateway.url, { path, headers: { Host: "evil.example" } }),
        403,
        "forbidden",
      );
  });
});

test.each(["localhost:PORT", "127.0.0.1:PORT", "[::1]:PORT", "LOCALHOST:PORT"])(
  "the machine's own name %s is ours, as a host and as an origin",
  async (name) => {
    const Host = name.replace("PORT", portOf(gateway.url));
    const headers = { ...bearer(gateway.token), Host, Origin: `http://${Host.toLowerCase()}` };
    const answer = await sendPlain(gateway.url, { path: "/v1/me", headers });
    expect(answer.status).toBe(200);
    await using socket = await gateway.attach(sessionId, "", { headers });
    expect(await socket.frame("connected")).toMatchObject({ session_id: sessionId });
  },
);

describe("a secret in an address is refused, and the right header beside it does not help", () => {
  test.each(["token", "access_token", "auth_token", "api_key", "ticket", "secret", "Token"])(
    "?%s=",
    async (name) => {
      for (const answer of await sendBoth({ headers: bearer(gateway.token) }, `?${name}=x`))
        expectFault(answer, 400, "invalid_request");
    },
  );

  test("also under a name that means nothing", async () => {
    const { secret } = await mint();
    for (const answer of await sendBoth({ headers: bearer(gateway.token) }, `?q=${secret}`)) {
      expectFault(answer, 400, "invalid_request");
      expect(answer.text).toContain("Authorization: Bearer");
    }
  });
});

describe("tokens", () => {
  test.each([
    ["none", {}],
    ["a wrong one", { Authorization: `Bearer reins_${"A".repeat(43)}` }],
    ["another scheme", { Authorization: "Basic dXNlcjpwYXNz" }],
    ["an empty one", { Authorization: "Bearer " }],
    ["two", { Authorization: "Bearer a b" }],
    ["a wrong cookie", { Cookie: "reins=nonsense" }],
    ["a wrong execd token", { "X-EXECD-ACCESS-TOKEN": "nonsense" }],
  ])("%s is unauthenticated", async (_what, headers) => {
    for (const answer of await sendBoth({ headers, from: "127.0.3.1" })) {
      expectFault(answer, 401, "unauthenticated");
      expect(answer.headers["www-authenticate"]).toBe("Bearer");
    }
  });

  test("an expired and a revoked one are as unknown as a wrong one", async () => {
    const from = "127.0.3.2";
    const short = await mint({ expires_in_ms: 1 });
    const ended = await mint();
    await gateway.get("token.revoke", { token_id: ended.token_id });
    const wrong = await sendBoth({ headers: bearer(`reins_${"A".repeat(43)}`), from });
    const plain = ({ text }: PlainAnswer) => text.replace(/req_\w+/, "req");
    await waitFor("its end", async () => {
      const [answer] = await sendBoth({ headers: bearer(short.secret), from });
      return answer?.status === 401;
    });
    for (const { secret } of [short, ended]) {
      const answers = await sendBoth({ headers: bearer(secret), from: "127.0.3.3" });
      expect(answers.map(plain)).toEqual(wrong.map(plain));
    }
  });

  test("a header of the execd API takes one of ours", async () => {
    const { secret } = await mint();
    const headers = { "X-EXECD-ACCESS-TOKEN": secret };
    expect((await sendPlain(gateway.url, { path: "/v1/me", headers })).status).toBe(200);
  });
});

describe("after too many failures", () => {
  test("an address is asked to wait, a right token passes, and other addresses hear nothing of it", async () => {
    const from = "127.0.4.1";
    const failing: PlainRequest = { path: "/v1/sessions", headers: bearer("wrong"), from };
    for (let count = 0; count < limits.auth_failures; count += 1)
      expectFault(await sendPlain(gateway.url, failing), 401, "unauthenticated");
    for (const answer of await sendBoth({ headers: bearer("wrong"), from })) {
      expectFault(answer, 429, "too_many");
      expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
      expect(Number(answer.headers["retry-after"])).toBeLessThanOrEqual(60);
    }
    const right = { ...failing, headers: bearer(gateway.token) };
    expect((await sendPlain(gateway.url, right)).status).toBe(200);
    const other = { ...failing, from: "127.0.4.2" };
    expectFault(await sendPlain(gateway.url, other), 401, "unauthenticated");
  });

  test("a wrong ticket counts as a wrong token", async () => {
    const attempt: PlainRequest = {
      method: "POST",
      path: "/v1/tickets/exchange",
      body: JSON.stringify({ ticket: "guessed" }),
      from: "127.0.4.3",
    };
    for (let count = 0; count < limits.auth_failures; count += 1)
      expectFault(await sendPlain(gateway.url, attempt), 401, "unauthenticated");
    expectFault(await sendPlain(gateway.url, attempt), 429, "too_many");
  });
});

describe("a browser", () => {
  const exchange = (ticket: string, from = "127.0.5.1") =>
    sendPlain(gateway.url, {
      method: "POST",
      path: "/v1/tickets/exchange",
      body: JSON.stringify({ ticket }),
      headers: { Origin: gateway.url, "Content-Type": "application/json" },
      from,
    });
  const getTicket = async (token: string) => {
    const { ticket } = await gateway.as(token).get("ticket.create", {});
    secrets.add(ticket);
    return ticket;
  };
  const cookieOf = ({ headers }: PlainAnswer) => {
    const [cookie = ""] = headers["set-cookie"]?.[0]?.split(";") ?? [];
    secrets.add(cookie.replace("reins=", ""));
    return cookie;
  };
  const enter = async () => {
    const minted = await mint();
    return { ...minted, Cookie: cookieOf(await exchange(await getTicket(minted.secret))) };
  };

  test("gives a ticket for a cookie that no script reads and no other site sends", async () => {
    const { secret } = await mint();
    const answer = await exchange(await getTicket(secret));
    expect(JSON.parse(answer.text)).toMatchObject({ user_id: "u", role: "operator" });
    const attributes = answer.headers["set-cookie"]?.[0]?.split("; ").slice(1);
    expect(attributes).toEqual([
      "HttpOnly",
      "SameSite=Strict",
      "Path=/",
      // A millisecond may lie between the two times that it is made of.
      expect.stringMatching(/^Max-Age=(604800|604799)$/),
    ]);
    const me = { path: "/v1/me", headers: { Cookie: `a=b; ${cookieOf(answer)}; c=d` } };
    expect((await sendPlain(gateway.url, me)).status).toBe(200);
  });

  test("one of twenty that race with a ticket gets in", async () => {
    const ticket = await getTicket((await mint()).secret);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => exchange(ticket, `127.0.6.${index + 1}`)),
    );
    const winners = answers.filter(({ status }) => status === 200);
    expect(winners.length).toBe(1);
    expect(winners.map(cookieOf)[0]).toMatch(/^reins=./);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expectFault(answer, 401, "unauthenticated");
  });

  test("an old ticket and that of a revoked token let nobody in", async () => {
    const old = await getTicket((await mint()).secret);
    const { token_id, secret } = await mint();
    const orphan = await getTicket(secret);
    await gateway.get("token.revoke", { token_id });
    using database = new DatabaseSync(join(gateway.host.dataDir, "reins.db"));
    database.exec("UPDATE tickets SET expires_at = '2020-01-01T00:00:00.000Z'");
    expectFault(await exchange(orphan), 401, "unauthenticated");
    expectFault(await exchange(old), 401, "unauthenticated");
  });

  test("changes something only from a page of ours, which says so", async () => {
    const { Cookie } = await enter();
    const create = (headers: Readonly<Record<string, string>>) =>
      sendPlain(gateway.url, {
        method: "POST",
        path: "/v1/tasks",
        body: JSON.stringify({ work_dir: "/" }),
        headers: { Cookie, ...headers },
      });
    const Origin = gateway.url;
    expectFault(await create({}), 403, "forbidden");
    expectFault(await create({ Origin }), 403, "forbidden");
    expectFault(await create({ "X-Reins-Page": "1" }), 403, "forbidden");
    expectFault(await create({ Origin, Upgrade: "nothing" }), 403, "forbidden");
    const foreign = { Origin: "https://evil.example", "X-Reins-Page": "1" };
    expectFault(await create(foreign), 403, "forbidden");
    expect((await create({ Origin, "X-Reins-Page": "1" })).status).toBe(201);
  });

  test("opens a socket only from a page of ours", async () => {
    const { Cookie } = await enter();
    const path = `/v1/sessions/${sessionId}/ws`;
    const bare = await sendPlain(gateway.url, { path, headers: { ...handshake, Cookie } });
    expectFault(bare, 403, "forbidden");
    await using socket = await gateway
      .as(undefined)
      .attach(sessionId, "", { headers: { Cookie, Origin: gateway.url } });
    expect(await socket.frame("connected")).toMatchObject({ session_id: sessionId });
  });

  test("is out with the token that it came by, its socket too", async () => {
    const { Cookie, token_id } = await enter();
    const headers = { Cookie, Origin: gateway.url };
    await using socket = await gateway.as(undefined).attach(sessionId, "", { headers });
    await socket.frame("connected");
    await gateway.get("token.revoke", { token_id });
    expectFault(
      await sendPlain(gateway.url, { path: "/v1/me", headers, from: "127.0.5.2" }),
      401,
      "unauthenticated",
    );
    expect((await socket.ended()).code).toBe(4401);
  });
});

test("who is refused an upgrade and keeps its end open is hung up on all the same", async () => {
  const { hostname, port, host } = new URL(gateway.url);
  const lines = Object.entries({ Host: host, ...handshake }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.on("error", () => undefined);
  socket.resume();
  socket.write(`GET /v1/terminals/ws HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  await waitFor("its end", () => socket.readableEnded);
  // Only a connection that is gone on the other side answers what is still sent with a reset.
  await waitFor("a reset", () => {
    if (!socket.destroyed) socket.write("x");
    return socket.destroyed;
  });
});

describe("a token that is revoked", () => {
  test.each(["revoked", "expired"])("ends what is open for it when it is %s", async (how) => {
    const minted = await mint(how === "expired" ? { expires_in_ms: 1500 } : {});
    const door = gateway.as(minted.secret);
    const kept = gateway.as((await mint()).secret);
    await using other = await kept.attach(sessionId);
    await using attached = await door.attach(sessionId);
    await using terminals = await door.socket("/v1/terminals/ws");
    await attached.frame("connected");
    const streams = await Promise.all(
      [`/v1/sessions/${sessionId}/events`, "/v1/events"].map((path) => door.fetch(path)),
    );
    const wait = { session_id: sessionId as never, for: "exit", timeout_ms: 600_000 } as const;
    const waiting = door.call("session.wait", wait);
    const polling = door.fetch(`/v1/sessions/${sessionId}/output?since=tail&wait_ms=60000`);
    if (how === "revoked") await gateway.get("token.revoke", { token_id: minted.token_id });
    for (const socket of [attached, terminals]) expect((await socket.ended()).code).toBe(4401);
    for (const stream of streams) {
      const text = await stream.text();
      expect(text.trimEnd().split("\n\n").at(-1)).toContain('"code":"unauthenticated"');
    }
    expect((await waiting).status).toBe(401);
    expect((await polling).status).toBe(401);
    expect(await other.ask({ type: "ping", id: "1" })).toMatchObject({ type: "pong" });
  });

  test.each(["session", "terminals"])(
    "types nothing more into an open socket: %s",
    async (door) => {
      // The timer does not look for the length of this test, so it is the frame that is checked.
      await using slow = await openTestGateway({ patience: { revocationCheckMs: 600_000 } });
      const { session_id } = await slow.get("session.create", {
        kind: "terminal",
        argv: ["/bin/sh", "-c", "stty -echo; echo ready; exec cat"],
      });
      const { secret, token_id } = await slow.get("token.create", {
        user_id: "ada",
        role: "operator",
      });
      const path = door === "session" ? `/v1/sessions/${session_id}/ws` : "/v1/terminals/ws";
      await using socket = await slow.as(secret).socket(path);
      const data_b64 = Buffer.from("typed\n").toString("base64");
      const typed =
        door === "session"
          ? { type: "stdin", data: "typed\n", id: "1" }
          : { type: "terminal.data", payload: { session_id, data_b64 } };
      if (door === "session") await socket.frame("connected");
      else {
        socket.send({ type: "terminal.attach", payload: { request_id: "1", session_id } });
        await socket.frame("terminal.attached");
      }
      await slow.get("session.wait", {
        session_id,
        for: "text",
        text: "ready",
        timeout_ms: 10_000,
      });
      await slow.get("token.revoke", { token_id });
      socket.send(typed);
      expect((await socket.ended()).code).toBe(4401);
      await slow.get("session.input", { session_id, data: "\u0004" });
      await slow.get("session.wait", { session_id, for: "exit", timeout_ms: 10_000 });
      expect((await slow.host.output(session_id)).bytes.toString()).toBe("ready\r\n");
    },
  );

  test("leaves what it started running", async () => {
    const { secret, token_id } = await mint();
    const made = await gateway
      .as(secret)
      .get("session.create", { kind: "terminal", argv: ["/bin/cat"] });
    await gateway.get("token.revoke", { token_id });
    expect(await gateway.get("session.get", { session_id: made.session_id })).toMatchObject({
      state: { kind: "running" },
    });
  });
});

describe("where it listens", () => {
  const open = (flags: object, dataDir: string) =>
    openGatewayDaemon({
      dataDir,
      version: "test",
      command: ["/bin/false"],
      env: {},
      flags: { listen: "127.0.0.1:0", ...flags },
    });

  test("an address that others reach is refused without TLS, unless it is said that it is meant", async () => {
    using dir = openTempDir();
    const dataDir = join(dir.path, "home");
    for (const listen of ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"])
      await expect(open({ listen }, dataDir)).rejects.toMatchObject({ code: "invalid_request" });
    await using meant = await open({ listen: "0.0.0.0:0", allow_insecure: true }, dataDir);
    const url = `http://127.0.0.1:${portOf(meant.url)}`;
    expect((await sendPlain(url, { path: "/v1/health" })).status).toBe(200);
    expectFault(await sendPlain(url, { path: "/v1/me" }), 401, "unauthenticated");
    expectFault(
      await sendPlain(url, { path: "/v1/health", headers: { Host: "evil.example" } }),
      403,
      "forbidden",
    );
  });

  test("public_url adds its host and its origin, and no others", async () => {
    using dir = openTempDir();
    await using behind = await open({ public_url: "https://reins.example.org" }, dir.path);
    const ask = (Host: string, Origin: string) =>
      sendPlain(behind.url, { path: "/v1/health", headers: { Host, Origin } });
    for (const host of ["reins.example.org", "reins.example.org:443", "REINS.example.org"])
      expect((await ask(host, "https://reins.example.org")).status).toBe(200);
    expectFault(await ask("reins.example.org", "http://reins.example.org"), 403, "forbidden");
    expectFault(await ask("reins.example.org:80", "https://reins.example.org"), 403, "forbidden");
    expectFault(await ask("evil.reins.example.org", behind.url), 403, "forbidden");
  });

  test("the loopback of IPv6 is one", async () => {
    using dir = openTempDir();
    await using six = await open({ listen: "[::1]:0" }, dir.path);
    expect(six.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await sendPlain(six.url, { path: "/v1/health" })).status).toBe(200);
  });

  test("with TLS by files it speaks TLS, also to sockets, and its cookie is Secure", async () => {
    using dir = openTempDir();
    const [cert, key] = [join(dir.path, "cert.pem"), join(dir.path, "key.pem")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
    const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    execFileSync("openssl", [...made, "-nodes", "-keyout", key, "-out", cert, ...subject], {
      stdio: "ignore",
    });
    const dataDir = join(dir.path, "home");
    await using server = await open({ tls: { cert, key }, listen: "127.0.0.1:0" }, dataDir);
    const ca = readFileSync(cert, "utf8");
    const headers = bearer(readFileSync(join(dataDir, "token"), "utf8").trim());
    expect((await sendPlain(server.url, { path: "/v1/me", headers, ca })).status).toBe(200);
    const post = { method: "POST", headers, ca };
    const ticket = JSON.parse(
      (await sendPlain(server.url, { ...post, path: "/v1/tickets" })).text,
    ) as { ticket: string };
    const exchanged = await sendPlain(server.url, {
      ...post,
      path: "/v1/tickets/exchange",
      body: JSON.stringify({ ticket: ticket.ticket }),
    });
    expect(exchanged.headers["set-cookie"]?.[0]).toContain("; Secure");
    const upgrade = { path: "/v1/terminals/ws", headers: handshake, ca };
    expectFault(await sendPlain(server.url, upgrade), 401, "unauthenticated");
    const plain = server.url.replace("https:", "http:");
    await expect(sendPlain(plain, { path: "/v1/health" })).rejects.toThrow();
  });

  test("files for TLS that are missing or none are named, and it does not start", async () => {
    using dir = openTempDir();
    const files = { cert: join(dir.path, "no"), key: join(dir.path, "no") };
    await expect(open({ tls: files }, dir.path)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("no"),
    });
    const broken = { cert: import.meta.filename, key: import.meta.filename };
    await expect(open({ tls: broken }, dir.path)).rejects.toMatchObject({
      code: "invalid_request",
    });
  });
});

test("no secret is in a log, in the audit, in the store or in a child's environment", async () => {
  const { secret } = await mint();
  const headers = bearer(gateway.token);
  // Where people put them by mistake.
  await sendPlain(gateway.url, { path: `/v1/sessions/${secret}`, headers });
  await sendPlain(gateway.url, { path: `/${secret}?a=${secret}`, headers });
  await sendPlain(gateway.url, { path: "/v1/me", headers: { Host: secret } });
  await sendPlain(gateway.url, { path: "/v1/me", headers: { ...headers, Origin: secret } });
  await sendPlain(gateway.url, { path: "/v1/me", headers: { Authorization: secret } });
  const body = JSON.stringify({ kind: "command", command: "env", [secret]: secret });
  await sendPlain(gateway.url, { method: "POST", path: "/v1/sessions", headers, body });
  const made = await gateway.get("session.create", { kind: "command", command: "env" });
  const { text } = await gateway.host.output(made.session_id);
  expect(text).toContain("PATH=");
  expect(secrets.size).toBeGreaterThan(15);
  const kept = [...filesOf(gateway.host.dataDir)];
  expect(kept.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["gateway.log", "host.log", "reins.db"]),
  );
  for (const { name, bytes } of kept)
    for (const each of [...secrets, gateway.token])
      expect([name, bytes.includes(each)]).toEqual([
        name,
        name === "token" && each === gateway.token,
      ]);
});

function* filesOf(folder: string): Generator<{ readonly name: string; readonly bytes: Buffer }> {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    const found = readIfThere(path);
    // A record that is written anew has the name of a draft for a moment; by its own name it is looked at too.
    if (found === undefined) continue;
    if (entry.parentPath === folder) expect([path, found.mode & 0o077]).toEqual([path, 0]);
    yield { name: entry.name, bytes: found.bytes };
  }
}

function readIfThere(path: string): { readonly mode: number; readonly bytes: Buffer } | undefined {
  try {
    return { mode: statSync(path).mode, bytes: readFileSync(path) };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
